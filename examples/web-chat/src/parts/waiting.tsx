import { useEffect, useState } from 'preact/hooks'
import { texts } from '../texts/texts.ts'

/** Most of what is read is there by then, and nothing is to flash. */
const SHOWN_AFTER_MS = 200

/** Then it is said that it takes long. */
const LONG_AFTER_MS = 5_000

interface WaitingProps {
  /** What will be there: its rows have that height. */
  kind?: 'conversation' | 'message' | 'card' | 'item' | 'line'
  /** Reads it again. Default: loads the page again, which drops what hangs. */
  onRetry?: () => void
}

/** The outlines of what is being read: nothing at first; after a while, a way to read it again. */
export function Waiting({ kind = 'line', onRetry = () => location.reload() }: WaitingProps) {
  const [waited, setWaited] = useState<'not' | 'short' | 'long'>('not')
  useEffect(() => {
    const timers = [
      setTimeout(() => setWaited('short'), SHOWN_AFTER_MS),
      setTimeout(() => setWaited('long'), LONG_AFTER_MS),
    ]
    return () => timers.forEach(clearTimeout)
  }, [])
  return (
    <div class="waiting" role="status">
      {waited === 'short' && <span class="hidden">{texts.value.loading}</span>}
      {waited === 'long' && (
        <p class="quiet">
          {texts.value.still_loading}{' '}
          <button type="button" class="link" onClick={onRetry}>
            {texts.value.reload}
          </button>
        </p>
      )}
      {waited !== 'not' &&
        ['1', '2', '3'].map((row) => <div key={row} class="outline" data-kind={kind} aria-hidden="true" />)}
    </div>
  )
}
