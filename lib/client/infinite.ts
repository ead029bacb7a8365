import { ChatError } from '../core/chat-error.ts'

/** Names the first number of a body that JSON would turn into `null`. @throws ChatError `validation_failed` with its place */
export function refuseInfinite(body: unknown): void {
  const paths = new Map<unknown, string>()
  JSON.stringify(body, function (this: unknown, key, value: unknown) {
    const path = [paths.get(this), key].filter(Boolean).join('.')
    if (typeof value === 'object' && value !== null) paths.set(value, path)
    if (typeof value === 'number' && !Number.isFinite(value))
      throw new ChatError('validation_failed', {
        status: 422,
        message: 'A value is not valid.',
        errors: [{ path, message: 'must be a finite number' }],
      })
    return value
  })
}
