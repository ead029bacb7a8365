import type { Ports } from '../../ports.ts'
import { toTool } from './hosted.ts'
import type { Tool } from './tool.ts'

/**
 * The tools of a service, by name.
 *
 * @throws TypeError for one that a host defines wrongly
 */
export function createTools({ tools = {} }: Pick<Ports, 'tools'>): Map<string, Tool> {
  return new Map(Object.entries(tools).map(([name, tool]) => [name, toTool(name, tool)]))
}
