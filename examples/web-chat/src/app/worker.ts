import { signal } from '@preact/signals'
import { scriptAddress } from './script-address.ts'

/** How often an open page asks for a new version. */
const ASK_MS = 60 * 60 * 1000

/** Whether a new version of the page waits for a reload. */
export const isOutdated = signal(false)

let waiting: ServiceWorker | undefined

/** Has the browser keep the files of the page. Without HTTPS, browsers have no service workers: then there is none. */
export async function registerWorker(): Promise<void> {
  const { serviceWorker } = navigator
  const manifest = document.querySelector<HTMLLinkElement>('link[rel=manifest]')
  if (!serviceWorker || !manifest) return
  const registration = await serviceWorker
    .register(scriptAddress(new URL('sw.js', manifest.href).href))
    .catch(() => undefined)
  if (!registration) return
  const look = () => {
    // The first one of a browser replaces nothing.
    if (!registration.waiting || !registration.active) return
    waiting = registration.waiting
    isOutdated.value = true
  }
  look()
  registration.addEventListener('updatefound', () => registration.installing?.addEventListener('statechange', look))
  setInterval(() => void registration.update().catch(() => {}), ASK_MS)
}

/** Goes on with the new version. */
export function update(): void {
  navigator.serviceWorker.addEventListener('controllerchange', () => location.reload())
  waiting?.postMessage('activate')
}
