import type { Signal } from '@preact/signals'
import { useAction } from '../app/action.ts'
import { density, enterChoice, hasSingleKeys, sound } from '../app/choices.ts'
import { useApp } from '../app/context.ts'
import { theme } from '../app/theme.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { useLoad } from '../parts/load.ts'
import { Select } from '../parts/select.tsx'
import { CODES, languageChoice, nameOf } from '../texts/language.ts'
import { accountTexts } from '../texts/settings.ts'

/** What the user sets for all conversations, and for this device. */
export function Preferences() {
  const { client } = useApp()
  const { preferences: words } = accountTexts.value
  const { value, error, reload } = useLoad((signal) => client.auth.me({ signal }))
  const change = useAction(async (receipts: boolean) => {
    await client.auth.changeProfile({ receipts })
    reload()
  })
  return (
    <>
      <div class="field">
        <label class="check">
          <input
            type="checkbox"
            disabled={!value || change.isRunning}
            checked={value?.receipts ?? false}
            onChange={(event) => void change.run(event.currentTarget.checked)}
          />
          {words.receipts}
        </label>
        <small class="hint">{words.receipts_hint}</small>
      </div>
      <ErrorNote error={change.error ?? error} />
      <Select
        label={words.language}
        value={languageChoice.value}
        options={[['auto', words.language_auto], ...CODES.map((code): [string, string] => [code, nameOf(code)])]}
        onChange={(next) => {
          languageChoice.value = next
        }}
      />
      <Choice label={words.theme} choice={theme} names={words.themes} />
      <Choice label={words.density} choice={density} names={words.densities} />
      <Choice label={words.enter} choice={enterChoice} names={words.enters} />
      <Choice label={words.sound} choice={sound} names={words.switches} />
      <Choice label={words.keys} choice={hasSingleKeys} names={words.switches} />
    </>
  )
}

interface ChoiceProps<Value extends string> {
  label: string
  choice: Signal<Value>
  names: Record<Value, string>
}

/** A choice that the browser keeps. */
function Choice<Value extends string>({ label, choice, names }: ChoiceProps<Value>) {
  return (
    <Select
      label={label}
      value={choice.value}
      options={(Object.keys(names) as Value[]).map((each) => [each, names[each]])}
      onChange={(next) => {
        choice.value = next
      }}
    />
  )
}
