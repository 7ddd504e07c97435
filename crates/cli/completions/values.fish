
complete -c stickpin -l session -x -a '(stickpin complete sessions 2>/dev/null)'
complete -c stickpin -n '__fish_seen_subcommand_from open' -a '(stickpin complete apps 2>/dev/null)'
