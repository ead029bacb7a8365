import { ChatError } from 'chat-server/client'
import { texts } from '../texts/texts.ts'

interface ErrorNoteProps {
  error: unknown
  /** Tries again what failed. */
  onRetry?: (() => void) | undefined
}

/** Why something failed, as soon as it has: what to do about it, and the id by which the log of the service names it. */
export function ErrorNote({ error, onRetry }: ErrorNoteProps) {
  if (error === undefined) return null
  return (
    <div class="error" role="alert">
      {messageOf(error)}
      {onRetry && (
        <button type="button" class="link" onClick={onRetry}>
          {texts.value.reload}
        </button>
      )}
      {error instanceof ChatError && error.request_id && isOfService(error) && (
        <details>
          <summary>{texts.value.error_details}</summary>
          {texts.value.errors.request(error.request_id)}
        </details>
      )}
    </div>
  )
}

/** A sentence for a failure, in the language of the page where it has one. */
export function messageOf(error: unknown): string {
  const { errors } = texts.value
  if (!(error instanceof ChatError)) return errors.unreachable
  return fieldsIn(error) || errors.codes[error.code] || error.message
}

/** What the service says of a failure: of each wrong field by its name, else what it says of this one case. */
export function detailOf(error: ChatError): string {
  return fieldsIn(error) || error.message
}

/** A field of a form has its message beside it: here its name is all that says which one it is. */
function fieldsIn({ errors }: ChatError): string | undefined {
  return errors?.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join(' ')
}

/** What only its operator can explain. */
function isOfService({ status }: ChatError): boolean {
  return status >= 500 || status === 403 || status === 409
}
