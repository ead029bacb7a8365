import { useState } from 'preact/hooks'
import { texts } from '../texts/texts.ts'
import { canAsk, turnAlertsOff, turnAlertsOn, wantsAlerts } from './alerts.ts'

/** Whether the browser shows notifications: it is asked for the permission with the click. */
export function AlertsChoice() {
  const { inbox } = texts.value
  const [isRefused, setRefused] = useState(!canAsk())
  if (!('Notification' in window)) return null
  return (
    <section>
      <label class="check">
        <input
          type="checkbox"
          disabled={isRefused}
          checked={wantsAlerts.value}
          onChange={async (event) => {
            const box = event.currentTarget
            if (!box.checked) return turnAlertsOff()
            setRefused(!(await turnAlertsOn()) && !canAsk())
            // A question that was closed without an answer leaves it off.
            box.checked = wantsAlerts.value
          }}
        />
        {inbox.alerts}
      </label>
      <p class="hint">{isRefused ? inbox.alerts_refused : inbox.alerts_hint}</p>
    </section>
  )
}
