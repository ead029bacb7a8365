import type { Throttled as ThrottledCaller } from 'chat-server/client/admin'
import { useAction } from '../app/action.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { useLoad } from '../parts/load.ts'
import { Waiting } from '../parts/waiting.tsx'
import { administrationTexts } from '../texts/settings.ts'
import { longTime, shortTime } from '../texts/time.ts'
import { useAdmin } from './admin.ts'

/** The callers whose next request would be refused, who can be let through again; and how sign-ins went. */
export function Throttled() {
  const admin = useAdmin()
  const { limits: words } = administrationTexts.value
  const { value, error, reload } = useLoad((signal) => admin.limits.status({}, { signal }))
  const forget = useAction(async ({ user_id, address }: ThrottledCaller) => {
    // Callers without an address cannot be named, which the service answers.
    await admin.limits.reset(user_id === undefined ? { address: address ?? '' } : { user_id })
    reload()
  })
  return (
    <section>
      <h3>{words.throttled}</h3>
      <p class="hint">{words.throttled_text}</p>
      <ErrorNote error={error ?? forget.error} />
      {!value && !error && <Waiting onRetry={reload} />}
      {value?.throttled.length === 0 && <p class="quiet">{words.none_throttled}</p>}
      <ul class="items">
        {value?.throttled.map((each) => {
          const name = each.username ?? each.address ?? each.user_id ?? ''
          return (
            <li key={`${each.limit} ${each.method} ${each.path} ${name}`}>
              <span class="name">
                <strong dir="auto">{name}</strong>
                <small>
                  {[each.limit, each.method, each.path].filter(Boolean).join(' ')} ·{' '}
                  <time datetime={each.until} title={longTime(each.until)}>
                    {words.until(shortTime(each.until))}
                  </time>
                </small>
              </span>
              <button
                type="button"
                aria-label={words.forget_of(name)}
                disabled={forget.isRunning}
                onClick={() => void forget.run(each)}
              >
                {words.forget}
              </button>
            </li>
          )
        })}
      </ul>
      {value && (
        <p class="hint">
          {words.sign_ins(value.sign_ins.succeeded, value.sign_ins.failed, value.sign_ins.throttled)}
          {value.locked_accounts > 0 && ` ${words.locked(value.locked_accounts)}`}
        </p>
      )}
    </section>
  )
}
