/** Matches a text at word boundaries: `Mail 1` does not match `Mail 10`. */
function words(text: string): RegExp {
  const plain = text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+');
  return new RegExp(`(^|[^\\p{L}\\p{N}])${plain}($|[^\\p{L}\\p{N}])`, 'u');
}

