# Prints the completions of fish at the end of each line of $LINE, and <end> after those of a line.
stickpin completions fish | source
for line in (string split \n -- $LINE)
    for completion in (complete -C $line)
        string split -f 1 -- \t $completion
    end
    echo "<end>"
end
