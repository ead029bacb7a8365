import { sheetTables } from '../../examples/web-chat/src/keys/sheet-tables.ts'
import { type Keys, keyText } from '../../examples/web-chat/src/keys/table.ts'
import { texts } from '../../examples/web-chat/src/texts/settings-en.ts'

const HEAD = `<!-- Made from examples/web-chat/src/keys by test/support/generate-docs.ts: change it there. -->

# Keys of the web chat

<kbd>?</kbd> shows them in the page. On a Mac, <kbd>Ctrl</kbd> is <kbd>⌘</kbd>, <kbd>Alt</kbd> is <kbd>⌥</kbd>. Keys of a
single letter work on a message that has the focus, and can be turned off under _Preferences_; there, Enter can also begin a
line, and Shift Enter send. What a user may not do has no key.
`

/** The reference of the keys. */
export function keysPage(): string {
  const { page, box, message, acts } = texts.keys
  const tables = sheetTables(true)
  const words: Readonly<Record<string, string>> = acts
  const table = (title: string, rows: Readonly<Record<string, readonly Keys[]>>) =>
    [
      `## ${title}`,
      '',
      '| keys | what they do |',
      '|---|---|',
      ...Object.entries(rows).map(([act, all]) => `| ${all.map(written).join(' · ')} | ${words[act]} |`),
    ].join('\n')
  return [HEAD, table(page, tables.page), '', table(box, tables.box), '', table(message, tables.message), ''].join('\n')
}

const written = (keys: Keys) =>
  keyText(keys, false)
    .split(' ')
    .map((key) => `<kbd>${key}</kbd>`)
    .join(' ')
