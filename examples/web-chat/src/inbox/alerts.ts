import { signal } from '@preact/signals'
import { attempt } from '../app/attempt.ts'

/** Where the browser keeps that its user wants to be notified outside of the page. */
const KEY = 'chat:alerts'

/** Whether the browser shows notifications of its own. It asks nothing: that takes a click. */
export const wantsAlerts = signal(isAllowed() && attempt(() => localStorage.getItem(KEY)) === 'on')

/** Whether the browser can ask for them, or has been told already. */
export function canAsk(): boolean {
  return 'Notification' in window && Notification.permission !== 'denied'
}

/** After a click: asks the browser for the permission if it is missing. @returns whether it is there */
export async function turnAlertsOn(): Promise<boolean> {
  if ((await Notification.requestPermission()) !== 'granted') return false
  attempt(() => localStorage.setItem(KEY, 'on'))
  wantsAlerts.value = true
  return true
}

/** Whether the page offers to ask: once, after the first post of this device. */
export const offersAlerts = signal(false)

const OFFERED = 'chat:alerts-offered'

/** After a post. */
export function offerAlerts(): void {
  if (!canAsk() || Notification.permission !== 'default') return
  if (attempt(() => localStorage.getItem(OFFERED)) !== null) return
  attempt(() => localStorage.setItem(OFFERED, 'yes'))
  offersAlerts.value = true
}

export function turnAlertsOff(): void {
  attempt(() => localStorage.removeItem(KEY))
  wantsAlerts.value = false
}

function isAllowed(): boolean {
  return 'Notification' in window && Notification.permission === 'granted'
}
