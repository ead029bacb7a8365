import { enterChoice } from '../app/choices.ts'
import { Dialog } from '../parts/dialog.tsx'
import { keysTexts } from '../texts/settings.ts'
import { MESSAGE_KEYS } from './message-table.ts'
import { FORMAT_KEYS, type Keys, keyText, SHELL_KEYS } from './table.ts'

/** Which keys do what. */
export function KeySheet({ onClose }: { onClose: () => void }) {
  const words = keysTexts.value
  const enter: Keys = { key: 'Enter' }
  const shifted: Keys = { key: 'Enter', shift: true }
  const [send, line] = enterChoice.value === 'send' ? [enter, shifted] : [shifted, enter]
  return (
    <Dialog title={words.title} onClose={onClose}>
      <Section title={words.page} table={{ ...SHELL_KEYS, escape: [{ key: 'Esc' }] }} words={words.acts} />
      <Section
        title={words.box}
        table={{ send: [send], line: [line], edit_last: [{ key: 'ArrowUp' }], ...FORMAT_KEYS }}
        words={words.acts}
      />
      <Section title={words.message} table={MESSAGE_KEYS} words={words.acts} />
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
