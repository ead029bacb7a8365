import type { UserQuotaState } from 'chat-server/client/admin'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Field, fieldsOf } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { useLoad } from '../parts/load.ts'
import { showToast } from '../parts/toast.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { moneyText, numberText } from '../texts/numbers.ts'
import { usageTexts } from '../texts/settings.ts'
import { useAdmin } from './admin.ts'
import { PERIODS, quotaOf, typedOf, UNITS } from './quota-of.ts'

/** How much of the assistants a user may use, instead of what the roles of the user may. */
export function UserQuota({ id }: { id: string }) {
  const admin = useAdmin()
  const { client, features } = useApp()
  const words = usageTexts.value
  const { value: usage } = useLoad((signal) => client.usage.get({ signal }))
  const { value: state, error, reload } = useLoad((signal) => admin.usage.getQuota(id, { signal }))
  const set = useAction(async (form: HTMLFormElement) => {
    await admin.usage.setQuota(id, quotaOf(fieldsOf(form)))
    reload()
    showToast(words.quota_set)
  })
  const clear = useAction(async () => {
    await admin.usage.clearQuota(id)
    reload()
    showToast(words.quota_cleared)
  })
  if (!features.assistant) return null
  const currency = usage?.currency ?? ''
  return (
    <section>
      <h3>{words.quota}</h3>
      <p class="hint">{words.quota_text}</p>
      <ErrorNote error={error} onRetry={reload} />
      {!state && !error && <Waiting onRetry={reload} />}
      {state && (
        <>
          <Present state={state} currency={currency} />
          <Form key={JSON.stringify(state.quota)} action={set} button={words.quota_save}>
            {PERIODS.map((period) => (
              <fieldset key={period} class="side-by-side">
                <legend>{words.quota_periods[period]}</legend>
                {UNITS.map((unit) => (
                  <Field
                    key={unit}
                    label={unit === 'cost_micros' && usage ? `${words.units[unit]} (${currency})` : words.units[unit]}
                    name={`${period}.${unit}`}
                    type="number"
                    min={0}
                    step={unit === 'cost_micros' ? 'any' : 1}
                    inputMode="decimal"
                    defaultValue={typedOf(unit, state.quota?.[period]?.[unit])}
                  />
                ))}
              </fieldset>
            ))}
          </Form>
          {state.quota && (
            <button type="button" disabled={clear.isRunning} onClick={() => void clear.run()}>
              {words.quota_clear}
            </button>
          )}
        </>
      )}
      <ErrorNote error={clear.error} />
    </section>
  )
}

/** Whether the user has a quota of their own, and else what the roles of the user may use. */
function Present({ state: { quota, roles }, currency }: { state: UserQuotaState; currency: string }) {
  const words = usageTexts.value
  if (quota) return <p class="quota-now">{words.quota_own}</p>
  const limits = PERIODS.flatMap((period) =>
    UNITS.flatMap((unit) => {
      const limit = roles[period]?.[unit]
      if (limit === undefined) return []
      const value = unit === 'cost_micros' ? moneyText(limit, currency) : numberText(limit)
      return [`${words.quota_periods[period]}: ${words.units[unit]} ${value}`]
    }),
  )
  return <p class="quota-now">{words.quota_roles(limits.join(' · ') || words.quota_none)}</p>
}
