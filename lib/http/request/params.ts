import { ChatError } from '../../core/errors.ts'
import { nodeOf } from '../../core/schema-nodes.ts'
import type { AnyRoute } from '../../endpoint.ts'

/**
 * The parameters of a path, those that are texts by these schemas decoded.
 *
 * @throws ChatError `not_found` for a broken escape
 */
export function withTexts(
  schemas: NonNullable<AnyRoute['params']>,
  params: Record<string, string>,
): Record<string, string> {
  const texts = Object.entries(schemas).flatMap(([name, schema]) => (nodeOf(schema!).type === 'string' ? name : []))
  try {
    return { ...params, ...Object.fromEntries(texts.map((name) => [name, decodeURIComponent(params[name]!)])) }
  } catch (cause) {
    throw new ChatError('not_found', { cause })
  }
}
