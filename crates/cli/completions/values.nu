  # What there is now: sessions behind `--session`, and apps behind `open`.
  def "nu-complete stickpin sessions" [] {
    ^stickpin complete sessions | complete | get stdout | lines
  }

  def "nu-complete stickpin apps" [] {
    ^stickpin complete apps | complete | get stdout | lines
  }

