/** In bytes: nearly as long as a message may be. */
const LENGTH = 65_000

/** What a parser may read again and again. */
const UNITS = [
  ...[
    '*a_',
    '[a](',
    '>',
    '> ',
    '- ',
    '1. ',
    '*',
    '_',
    '~',
    '`',
    '[',
    ']',
    '(',
    ')',
    '![',
    '<',
    '<a ',
    '<!--',
    '<?',
    '"',
  ],
  ...['\\', '&', '&#', '&amp;', '|', '| a ', '#', '=', '-', '@', 'a', ' ', '\n', '\t', '\u0301', '<![CDATA[', '<a b="'],
  ...['- a\n', '> a\n', '> > a\nb\n', 'a\n- ', '# a\n', '```\n', '~~~\n', '1. a\n\n', '    a\n\n', 'a  \n', '\\\n'],
  ...[
    '[a]: b\n',
    '[a][b]',
    '[a](b "',
    '[a](<',
    '![a](b)',
    '[a](http://b)',
    '**a** ',
    'a*',
    '_a',
    '*a **b',
    '`a` ',
    '~a~',
  ],
  ...[
    'a@b.c ',
    '@ada ',
    '@ada.',
    'a.',
    'http://',
    'http://a.b/',
    'www.a)',
    'www.a&a;',
    '<a@b',
    '<http://',
    '<div>\n',
    '</a',
  ],
  ...['- [ ] a\n', '|a|\n|-|\n|', '[x] ', '\u00a0', 'a;'],
  // What takes long to lay out: letters of many fonts, directions and scripts, and those whose words have no spaces between them.
  ...[
    'a\u3000',
    'aש',
    '1٢',
    ' ٢',
    'ש',
    'a‘',
    'я=',
    'ש#',
    'aɋ',
    '=ạ',
    'αΑ',
    '─→',
    'กขคงจฉ',
    'សួស្តី',
    'မင်္ဂလာပါ',
    'नमस्ते दुनिया ',
    '漢字かな',
    'a漢',
    '𐎠a',
    'a😀',
  ],
  ...['a\u000b', 'a\u0085', 'a\t', '\ta', 'a\u200e', '\u202ea\u202c', 'a\r\n'],
]

/** Texts of 64 KiB that were made to keep a page from responding, by what they repeat. */
export const HOSTILE_TEXTS: ReadonlyMap<string, string> = new Map([
  ...UNITS.map((unit) => [JSON.stringify(unit), repeated(unit, LENGTH)] as const),
  ['brackets in brackets', repeated('[', LENGTH / 2) + repeated(']', LENGTH / 2)],
  ['images in images', `${repeated('![', LENGTH / 2)}x${repeated('](y)', LENGTH / 2)}`],
  ['links behind a bracket', `${repeated('[', LENGTH / 2)}${repeated('[a](b)', LENGTH / 2)}`],
  ['emphasis of two kinds', `${repeated('_a ', LENGTH / 2)}${repeated('*x_*', LENGTH / 2)}`],
  ['backticks of all lengths', Array.from({ length: 350 }, (_, index) => `${'`'.repeat(index + 1)} `).join('')],
  ['a reference for all brackets', `[a]: b\n\n${repeated('[a', LENGTH / 2)}${repeated(']', LENGTH / 2)}`],
  ['a wide table', `|${'a|'.repeat(60)}\n|${'-|'.repeat(60)}\n${repeated('|a\n', LENGTH - 500)}`],
  ['a wider table', `|${'a|'.repeat(10_000)}\n|${'-|'.repeat(10_000)}\n${repeated('|\n', 20_000)}`],
  ['quotes in lists', repeated('> - ', LENGTH)],
  ['lists by ever more spaces', Array.from({ length: 350 }, (_, index) => `${' '.repeat(index)}- a`).join('\n')],
  ['lazy lines in quotes', `${'> '.repeat(20)}a\n${repeated('> > a\nb\n', LENGTH - 100)}`],
])

/** Blocks of code whose colors take long to find, by their languages. */
export const HOSTILE_CODES: readonly (readonly [language: string, code: string])[] = [
  ['markdown', repeated('[a](', 20_000)],
  ['cpp', repeated('a ', 20_000)],
  ['cpp', repeated('*a_', 20_000)],
  ['bash', repeated('"""', 20_000)],
  ['csharp', repeated('def ', 20_000)],
  ['typescript', repeated('_', 20_000)],
  ['java', repeated('$', 20_000)],
]

function repeated(unit: string, length: number): string {
  return unit.repeat(Math.floor(length / Buffer.byteLength(unit)))
}
