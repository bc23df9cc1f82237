export type Token = {
  kind: 'word' | 'quoted' | 'value' | 'sign'
  /** In lower case if it is an unquoted word; without its quotes if it is a quoted name. */
  text: string
}

const TOKEN =
  /\s+|--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"((?:[^"]|"")*)"|(\$\d+|\d+(?:\.\d+)?)|([a-z_][\w$]*)|(::|<>|!=|<=|>=|->>?|\|\||@@|@>|<@|[\s\S])/giy

/** Splits PostgreSQL's SQL, or a part of a statement, into words, quoted names, values and signs. */
export function readSql(text: string): Token[] {
  const tokens: Token[] = []
  for (const [all, quoted, value, word, sign] of text.matchAll(TOKEN)) {
    if (quoted !== undefined) tokens.push({ kind: 'quoted', text: quoted })
    else if (word !== undefined) tokens.push({ kind: 'word', text: word.toLowerCase() })
    else if (sign !== undefined) tokens.push({ kind: 'sign', text: sign })
    else if (value !== undefined || all.startsWith("'")) tokens.push({ kind: 'value', text: all })
  }
  return tokens
}

/** Returns whether the token is this keyword or sign. A quoted name is never a keyword. */
export function is(token: Token | undefined, ...texts: string[]): boolean {
  return token !== undefined && (token.kind === 'word' || token.kind === 'sign') && texts.includes(token.text)
}
