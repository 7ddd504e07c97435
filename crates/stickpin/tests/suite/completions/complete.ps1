# Prints the completions of PowerShell at the end of each line of $env:LINE, and <end> after those of a line.
stickpin completions powershell | Out-String | Invoke-Expression
foreach ($line in $env:LINE -split "`n") {
    $found = TabExpansion2 -inputScript $line -cursorColumn $line.Length
    $found.CompletionMatches | ForEach-Object { $_.CompletionText }
    '<end>'
}
