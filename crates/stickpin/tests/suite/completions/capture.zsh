# Prints the completions of zsh at the end of each line of $LINE, and <end> after those of a line. Completions need a
# terminal, which `zpty` makes.
zmodload zsh/zpty || exit 1
zpty shell "PS1= zsh -f -i"
zpty -w shell 'autoload -U compinit && compinit -u -D
eval "$(stickpin completions zsh)"
bindkey "^I" complete-word
begin() { compprefuncs=(begin); print -r -- "<begin>" }
finish() { comppostfuncs=(finish); print -r -- "<end>" }
compprefuncs=(begin)
comppostfuncs=(finish)
# Prints the matches instead of adding them, except in a call that only filters an array.
compadd() {
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
  local -a matches
  builtin compadd -A matches "$@"
  print -rl -- $matches
}
stty -echo; print -r -- "<re""ady>"'
local text
zpty -r shell text $'*<ready>*' || exit 1
for line in ${(f)LINE}; do
  # Control-U removes the line before.
  zpty -w -n shell $'\C-u'"$line"$'\t'
  zpty -r shell text $'*<end>*' || exit 1
  print -r -- ${${text#*<begin>}%<end>*}
  print -r -- "<end>"
done
