const repeated = (piece: string) => (size: number) =>
  piece.repeat(Math.ceil(size / piece.length)).slice(0, size)
/** Fills the first half of the text with `open` and the second half with `close`. */
const nested = (open: string, close: string) => (size: number) =>
  open.repeat(size / 2 / open.length) + close.repeat(size / 2 / close.length)
const lines = (line: string) => repeated(`${line}\n`)

/**
 * Functions, by name, that return a text of about `size` characters on which parsers and regular expressions are
 * known to be slow.
 */
export const NASTIES: Record<string, (size: number) => string> = {
  ...Object.fromEntries(
    [
      ...['_a*', '*a_', '**a', '__a', '~~a', '*', '_', '~', '*a_b**c~~', '_a*b`c[d<e'],
      ...['[', ']', '![', '[a](', '](', '[a][', '[a]: ', '[[a](b)', '(', '[](<', '[^1]: '],
      ...['<', '<a ', '<a href="', '<!--', '<![CDATA[', '</', '<a<', '<b>', '<div><p>', '<script>', '<?'],
      ...['`', '`a', '``` ', '`\\', '~~~', '\\', '&', '&#', '&amp', '&lt;'],
      ...['> ', '>', '- ', '1. ', '| ', '|a', '||', '# ', '    a', '- [ ] ', '= ', '--- '],
      ...['a@', '@', 'a@b.', 'a.', '.', 'www.', 'http://', 'https://a.b/(', 'mailto:', 'a@a.a@'],
      ...['"', "'", '"a', '""', ',"', ',', ';', '{{', '{{a', '${', '{', '{"a":', '[1', '[1,'],
      ...['0', '1 ', '1.', '+1', '(1', '1-', '2026-01-01T', '00:00:', '%', '%0', '%25', '..', '/../'],
      ...['a', 'aA', 'a ', 'A ', ' ', '\t', '\n', '\r', '\r\n', ' \n', '\n ', '\u00a0', '\u2028', ' a'],
      ...[
        'e\u0301',
        'a\u0300\u0301\u0302',
        '\u0300',
        '\u200b',
        '\u200d',
        '👩‍👩‍👧',
        '\ud800',
        '\udc00',
        '\ud800a',
        '🇩🇪',
      ],
      ...[
        '漢',
        '漢字。',
        'ก',
        'ไ',
        '한',
        'ﷺ',
        '\u202e',
        'İ',
        'ß',
        '\u0000',
        '\ufeff',
        '!',
        '?!',
        '. A',
        'e.g. ',
      ],
      ...['On a wrote:', 'On ', '-- \n', 'From: a\n', '-', '--', 'Re: ', '>'.repeat(40)],
      ...['und ', 'not good ', 'Dr. ', 'wrote ', 'aaaaaaaaab', 'Ab-', "a'", 'a-a', 'stop '],
    ].map((piece) => [`${JSON.stringify(piece)} repeated`, repeated(piece)]),
  ),
  ...Object.fromEntries(
    [
      '_a*',
      '[',
      '<a ',
      '`',
      '> ',
      '- ',
      '|',
      '*',
      'a@',
      '"',
      '> > > a',
      'From: a',
      'x',
      '1. ',
      '<p>',
      ':',
    ].map((line) => [`lines of ${JSON.stringify(line)}`, lines(line)]),
  ),
  'brackets in brackets': nested('[', ']'),
  'links in links': nested('[', '](a)'),
  'quotes in quotes': nested('> ', 'a'),
  'tags in tags': nested('<b>', '</b>'),
  'divisions in divisions': nested('<div>', '</div>'),
  'objects in objects': nested('{"a":', '}'),
  'arrays in arrays': nested('[', ']'),
  'emphasis that never closes': (size) => `${repeated('*a ')(size / 2)}${repeated('_b ')(size / 2)}`,
  'lists that go deeper': (size) =>
    Array.from({ length: Math.sqrt(size / 2) }, (_, depth) => `${' '.repeat(depth * 2)}- a`).join('\n'),
  'one long word': repeated('abcdefghijklmnopqrstuvwxyz0123456789'),
  'a long line of words': repeated('the quick brown fox jumps over the lazy dog '),
  'spaces, then a word': (size) => `a${' '.repeat(size)}b`,
  'line breaks, then a word': (size) => `a${'\n'.repeat(size)}b`,
  'spaces before each end': repeated(`a${' '.repeat(500)}\n`),
  'a table of many columns': (size) =>
    `${repeated('|a')(size / 3)}|\n${repeated('|-')(size / 3)}|\n${repeated('|b')(size / 3)}|`,
  'a table of many rows': (size) => `|a|b|\n|-|-|\n${repeated('|c|d|\n')(size)}`,
  'runs of backticks, each longer': (size) =>
    Array.from({ length: Math.sqrt(size * 2) }, (_, count) => '`'.repeat(count)).join(' '),
  'definitions of links': (size) =>
    Array.from({ length: size / 16 }, (_, number) => `[${number}]: https://a.b`).join('\n'),
  'words that differ': (size) => Array.from({ length: size / 8 }, (_, number) => `w${number}x`).join(' '),
}
