import { isOutdated, update } from '../app/worker.ts'
import { texts } from '../texts/texts.ts'

/** Offers a new version of the page; nothing that was typed is lost. */
export function UpdateNote() {
  if (!isOutdated.value) return null
  const { outdated, update: label } = texts.value.connection
  return (
    <p class="update" role="status">
      {outdated}{' '}
      <button type="button" class="link" onClick={update}>
        {label}
      </button>
    </p>
  )
}
