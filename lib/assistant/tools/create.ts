import type { ConfigProblem } from '../../config/contradictions.ts'
import { type Config, ConfigError } from '../../config/parse.ts'
import type { Ports } from '../../ports.ts'
import { toTool } from './hosted.ts'
import { toHttpTool } from './http.ts'
import { readSchemaFile, SchemaFileError } from './json-schema-file.ts'
import type { Tool } from './tool.ts'

/**
 * The tools of a service by name: those of the configuration, and those of the host, which replace others of their name.
 *
 * @throws ConfigError for a schema that cannot be read
 * @throws TypeError for a tool that a host defines wrongly
 */
export function createTools(config: Pick<Config, 'tools'>, { tools = {} }: Pick<Ports, 'tools'>): Map<string, Tool> {
  const configured = Object.keys(config.tools).filter((name) => !Object.hasOwn(tools, name))
  return new Map([
    ...httpTools(config, configured),
    ...Object.entries(tools).map(([name, tool]) => [name, toTool(name, tool)] as const),
  ])
}

/** @throws ConfigError with each schema that cannot be read */
function httpTools(config: Pick<Config, 'tools'>, names: string[]): (readonly [string, Tool])[] {
  const problems: ConfigProblem[] = []
  const tools = names.flatMap((name) => {
    const settings = config.tools[name]!
    try {
      return [[name, toHttpTool(name, settings, readSchemaFile(settings.schema_file!))] as const]
    } catch (error) {
      if (!(error instanceof SchemaFileError)) throw error
      problems.push({ key: `tools.${name}.schema_file`, message: error.message })
      return []
    }
  })
  if (problems.length > 0) throw new ConfigError(problems)
  return tools
}
