# Prints the completions of PowerShell at the end of $env:LINE.
stickpin completions powershell | Out-String | Invoke-Expression
$found = TabExpansion2 -inputScript $env:LINE -cursorColumn $env:LINE.Length
$found.CompletionMatches | ForEach-Object { $_.CompletionText }
