import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Field, fieldsOf } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { useLoad } from '../parts/load.ts'
import { showToast } from '../parts/toast.tsx'
import { usageTexts } from '../texts/settings.ts'
import { useAdmin } from './admin.ts'
import { PERIODS, quotaOf, UNITS } from './quota-of.ts'

/** How much of the assistants a user may use, instead of what the roles of the user may. */
export function UserQuota({ id }: { id: string }) {
  const admin = useAdmin()
  const { client, features } = useApp()
  const words = usageTexts.value
  const { value: usage } = useLoad((signal) => client.usage.get({ signal }))
  const [round, setRound] = useState(0)
  const set = useAction(async (form: HTMLFormElement) => {
    await admin.usage.setQuota(id, quotaOf(fieldsOf(form)))
    showToast(words.quota_set)
  })
  const clear = useAction(async () => {
    await admin.usage.clearQuota(id)
    setRound(round + 1)
    showToast(words.quota_cleared)
  })
  if (!features.assistant) return null
  return (
    <section>
      <h3>{words.quota}</h3>
      <p class="hint">{words.quota_text}</p>
      <Form key={round} action={set} button={words.quota_save}>
        {PERIODS.map((period) => (
          <fieldset key={period} class="side-by-side">
            <legend>{words.quota_periods[period]}</legend>
            {UNITS.map((unit) => (
              <Field
                key={unit}
                label={unit === 'cost_micros' && usage ? `${words.units[unit]} (${usage.currency})` : words.units[unit]}
                name={`${period}.${unit}`}
                type="number"
                min={0}
                step={unit === 'cost_micros' ? 'any' : 1}
                inputMode="decimal"
              />
            ))}
          </fieldset>
        ))}
      </Form>
      <button type="button" disabled={clear.isRunning} onClick={() => void clear.run()}>
        {words.quota_clear}
      </button>
      <ErrorNote error={clear.error} />
    </section>
  )
}
