import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { THEMES, theme } from '../app/theme.ts'
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
      <Select
        label={words.theme}
        value={theme.value}
        options={THEMES.map((each) => [each, words.themes[each]])}
        onChange={(next) => {
          theme.value = next
        }}
      />
    </>
  )
}
