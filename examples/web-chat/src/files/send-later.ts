import type { FileUpload } from 'chat-server/client/parts'
import type { Readable } from 'chat-server/client/store'

/** What ends the waiting, by the place of the box. */
const waiting = new Map<string, () => void>()

/** Sends the message of a box that is no longer shown, once its files are uploaded. If one fails, or is gone, it stays a draft. */
export function sendLater(place: string, uploads: Readable<readonly FileUpload[]>, send: () => void): void {
  const count = uploads.getSnapshot().length
  const check = () => {
    const all = uploads.getSnapshot()
    const isReady = all.every(({ status }) => status === 'ready')
    if (all.length === count && !isReady && all.every(({ status }) => status !== 'failed')) return
    takeBack(place)
    if (all.length === count && isReady) send()
  }
  waiting.set(place, uploads.subscribe(check))
  check()
}

/** Ends that: the box is shown again. @returns whether its message was waiting */
export function takeBack(place: string): boolean {
  waiting.get(place)?.()
  return waiting.delete(place)
}
