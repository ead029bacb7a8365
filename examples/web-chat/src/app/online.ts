import { signal } from '@preact/signals'

/** Whether the device has a network. A stream that is open may not have noticed yet that it has none. */
export const isOnline = signal(navigator.onLine)

for (const event of ['online', 'offline'])
  addEventListener(event, () => {
    isOnline.value = navigator.onLine
  })
