import { ChatError } from 'chat-server/client'
import { texts } from '../texts/texts.ts'

/** Why something failed, as soon as it has: what to do about it, and the id by which the log of the service names it. */
export function ErrorNote({ error }: { error: unknown }) {
  if (error === undefined) return null
  return (
    <p class="error" role="alert">
      {messageOf(error)}
      {error instanceof ChatError && error.request_id && isOfService(error) && (
        <small>{texts.value.errors.request(error.request_id)}</small>
      )}
    </p>
  )
}

/** A sentence for a failure, in the language of the page where it has one. */
export function messageOf(error: unknown): string {
  const { errors } = texts.value
  if (!(error instanceof ChatError)) return errors.unreachable
  const fields = error.errors?.map(({ message }) => message).join(' ')
  return fields || errors.codes[error.code] || error.message
}

/** What only its operator can explain. */
function isOfService({ status }: ChatError): boolean {
  return status >= 500 || status === 403 || status === 409
}
