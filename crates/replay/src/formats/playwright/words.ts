/** A text that begins and ends with a word: `Mail 1` is not in `Mail 10`. */
function words(text: string): RegExp {
  const plain = text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+');
  return new RegExp(`(^|[^\\p{L}\\p{N}])${plain}($|[^\\p{L}\\p{N}])`, 'u');
}

