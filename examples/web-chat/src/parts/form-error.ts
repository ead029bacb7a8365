import { ChatError } from 'chat-server/client'
import { createContext } from 'preact'

/** Why a form was refused, for its fields. */
export const FormError = createContext<unknown>(undefined)

/** What the service says of a field, by the name of its input. */
export function messageFor(error: unknown, name: unknown): string | undefined {
  if (!(error instanceof ChatError) || typeof name !== 'string') return undefined
  const found = error.errors?.filter(({ path }) => path === name)
  return found?.length ? found.map(({ message }) => message).join(' ') : undefined
}

/** The error without what fields of the form show; `undefined` if they show all of it. */
export function beyondFields(error: unknown, form: HTMLFormElement | null): unknown {
  if (!(error instanceof ChatError) || !error.errors || !form) return error
  const rest = error.errors.filter(({ path }) => !form.elements.namedItem(path))
  if (rest.length === error.errors.length) return error
  return rest.length === 0 ? undefined : new ChatError(error.code, { message: error.message, errors: rest })
}
