import { texts } from '../texts/texts.ts'
import { offersAlerts, turnAlertsOn } from './alerts.ts'

/** Offers to notify the user on this device, once: the browser is asked with the click. */
export function AlertsOffer() {
  const { inbox } = texts.value
  const close = () => {
    offersAlerts.value = false
  }
  return (
    <p class="update" role="status">
      {inbox.offer}{' '}
      <button type="button" class="link" onClick={() => void turnAlertsOn().finally(close)}>
        {inbox.alerts}
      </button>{' '}
      <button type="button" class="link" onClick={close}>
        {inbox.not_now}
      </button>
    </p>
  )
}
