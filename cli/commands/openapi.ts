import { stringifyYAML } from 'confbox'
import { commonArgs, defineCommand } from '../args/command.ts'
import { loadConfig } from '../config/load.ts'
import { writeNewFile } from '../config/permissions.ts'
import { oneLine, print } from '../output.ts'

export default defineCommand({
  meta: { name: 'openapi', description: 'Print the OpenAPI description of the HTTP interface' },
  example: 'chat-server openapi --format yaml --output openapi.yaml',
  args: {
    format: { type: 'enum', options: ['json', 'yaml'], default: 'json', description: 'Format of the output' },
    output: { type: 'string', valueHint: 'file', description: 'Target file' },
    force: { type: 'boolean', description: 'Replace an existing file' },
    ...commonArgs,
  },
  run: async ({ args }) => {
    const { openApiDocument } = await import('../../lib/http/openapi/build.ts')
    const { format, output } = args
    const document = openApiDocument(loadConfig(args).config)
    const text = format === 'yaml' ? stringifyYAML(withoutReferences(document)) : JSON.stringify(document, null, 2)
    if (!output) return print(args, document, text.trimEnd())
    await writeNewFile(output, `${text.trimEnd()}\n`, args)
    return print(args, { output, format }, oneLine(`Written to ${output}.`))
  },
})

/** A copy without shared objects: YAML would write them as references. */
function withoutReferences<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T
}
