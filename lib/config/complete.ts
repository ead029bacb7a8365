import { entriesOf, type SchemaNode } from '../core/schema-nodes.ts'
import { isSection } from './key.ts'
import type { Config } from './parse.ts'
import { joinKey, ROOT } from './reference.ts'

/**
 * Refuses an object that `parseConfig` did not return: the service would run without the defaults.
 *
 * @param caller the function that got it
 * @throws TypeError
 */
export function assertParsed(config: unknown, caller: string): asserts config is Config {
  const missing = firstMissing(config, ROOT, '')
  if (missing === undefined) return
  const lacks = missing && ` ("${missing}" is missing)`
  throw new TypeError(`${caller}: the configuration must come from parseConfig: pass parseConfig({ … })${lacks}`)
}

/** The first section or key with a default that is not set; an empty text for the whole configuration. */
function firstMissing(value: unknown, node: SchemaNode, key: string): string | undefined {
  const entries = entriesOf(node)
  if (!entries) return node.default !== undefined && value === undefined ? key : undefined
  if (!isSection(value)) return node.default === undefined && key && value === undefined ? undefined : key
  for (const [name, child] of Object.entries(entries)) {
    const missing = firstMissing(value[name], child, joinKey(key, name))
    if (missing !== undefined) return missing
  }
  return undefined
}
