  # The current values: sessions after `--session`, and apps after `open`.
  def "nu-complete stickpin sessions" [] {
    ^stickpin complete sessions | complete | get stdout | lines
  }

  def "nu-complete stickpin apps" [] {
    ^stickpin complete apps | complete | get stdout | lines
  }

