
# Sessions after `--session` and apps after `open`, before the generated values. Bash splits a name with a
# colon into several words, so the candidates for such a name omit the part up to the last colon.
_stickpin_values() {
    local line="${COMP_LINE:0:COMP_POINT}"
    local word="${line##*[[:space:]]}" left=""
    [[ "$word" == *:* && "$COMP_WORDBREAKS" == *:* ]] && left="${word%:*}:"
    local value
    COMPREPLY=()
    while IFS= read -r value; do
        [[ "$value" == "$word"* ]] && COMPREPLY+=("${value#"$left"}")
    done < <(stickpin complete "$1" 2>/dev/null)
    return 0
}
_stickpin_with_values() {
    local line="${COMP_LINE:0:COMP_POINT}"
    if [[ "$line" =~ [[:space:]]--session[[:space:]=]+[^[:space:]]*$ ]]; then
        _stickpin_values sessions
    elif [[ "$line" =~ [[:space:]]open[[:space:]]+[^-[:space:]][^[:space:]]*$ || "$line" =~ [[:space:]]open[[:space:]]+$ ]]; then
        _stickpin_values apps
    else
        _stickpin "$@"
    fi
}
complete -F _stickpin_with_values -o bashdefault -o default stickpin
