# Prints the completions of fish at the end of $LINE.
stickpin completions fish | source
for completion in (complete -C $LINE)
    string split -f 1 -- \t $completion
end
true
