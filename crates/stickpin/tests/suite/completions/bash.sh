# Prints the completions of bash at the end of $LINE.
source <(stickpin completions bash)
COMP_LINE="$LINE" COMP_POINT=${#LINE}
read -ra COMP_WORDS <<< "$LINE"
[[ "$LINE" == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
_stickpin_with_values stickpin "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\n' "${COMPREPLY[@]}"
