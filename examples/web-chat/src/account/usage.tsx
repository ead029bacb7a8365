import type { OwnUsage } from 'chat-server/client'
import { useApp } from '../app/context.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { useLoad } from '../parts/load.ts'
import { Waiting } from '../parts/waiting.tsx'
import { moneyText, numberText } from '../texts/numbers.ts'
import { usageTexts } from '../texts/settings.ts'
import { momentOf } from '../texts/time.ts'

type Period = OwnUsage['periods'][number]
type Unit = keyof NonNullable<Period['limits']>

const UNITS = ['answers', 'tokens', 'cost_micros'] as const satisfies readonly Unit[]

/** What the user has used of the assistants, in this day and this month. */
export function Usage() {
  const { client } = useApp()
  const words = usageTexts.value
  const { value, error, reload } = useLoad((signal) => client.usage.get({ signal }))
  return (
    <>
      <p class="hint">{words.text}</p>
      <ErrorNote error={error} onRetry={reload} />
      {!value && !error && <Waiting onRetry={reload} />}
      {value?.periods.map((each) => (
        <PeriodView key={each.period} period={each} currency={value.currency} />
      ))}
      {value && (
        <button type="button" onClick={reload}>
          {words.refresh}
        </button>
      )}
    </>
  )
}

function PeriodView({ period, currency }: { period: Period; currency: string }) {
  const words = usageTexts.value
  return (
    <section>
      <h3>{words.periods[period.period]}</h3>
      <dl class="usage">
        {UNITS.filter((unit) => isShown(period, unit)).map((unit) => (
          <Used key={unit} period={period} unit={unit} currency={currency} />
        ))}
      </dl>
      <small class="quiet">{words.resets(momentOf(period.resets_at))}</small>
    </section>
  )
}

/** What costs nothing, and has no limit, is not worth a line. */
function isShown({ limits, cost_micros }: Period, unit: Unit): boolean {
  return unit !== 'cost_micros' || cost_micros > 0 || limits?.cost_micros !== undefined
}

function Used({ period, unit, currency }: { period: Period; unit: Unit; currency: string }) {
  const words = usageTexts.value
  const textOf = (value: number) => (unit === 'cost_micros' ? moneyText(value, currency) : numberText(value))
  const [used, limit] = [period[unit], period.limits?.[unit]]
  return (
    <div>
      <dt>{words.units[unit]}</dt>
      <dd>
        {limit === undefined ? textOf(used) : words.of(textOf(used), textOf(limit))}
        {limit !== undefined && (
          <meter
            aria-label={`${words.periods[period.period]}: ${words.units[unit]}`}
            min={0}
            // A limit of nothing is used up.
            max={Math.max(limit, 1)}
            value={limit === 0 ? 1 : Math.min(used, limit)}
            data-full={used >= limit}
          />
        )}
        {unit === 'tokens' && (
          <small class="quiet">
            {words.tokens(numberText(period.prompt_tokens), numberText(period.completion_tokens))}
          </small>
        )}
      </dd>
    </div>
  )
}
