import { enterChoice } from '../app/choices.ts'
import { Dialog } from '../parts/dialog.tsx'
import { keysTexts } from '../texts/settings.ts'
import { sheetTables } from './sheet-tables.ts'
import { type Keys, keyText } from './table.ts'

/** Which keys do what. */
export function KeySheet({ onClose }: { onClose: () => void }) {
  const words = keysTexts.value
  const tables = sheetTables(enterChoice.value === 'send')
  return (
    <Dialog title={words.title} onClose={onClose}>
      <Section title={words.page} table={tables.page} words={words.acts} />
      <Section title={words.box} table={tables.box} words={words.acts} />
      <Section title={words.message} table={tables.message} words={words.acts} />
    </Dialog>
  )
}

interface SectionProps {
  title: string
  table: Readonly<Record<string, readonly Keys[]>>
  words: Readonly<Record<string, string>>
}

function Section({ title, table, words }: SectionProps) {
  return (
    <section class="key-sheet">
      <h3>{title}</h3>
      <dl>
        {Object.entries(table).map(([act, all]) => (
          <div key={act}>
            <dt>{words[act]}</dt>
            <dd>
              {all.map((keys) => (
                <kbd key={keyText(keys)} dir="ltr">
                  {keyText(keys)}
                </kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
