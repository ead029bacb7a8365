import { toJsonSchema } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { CONVERSION } from '../../core/json-schema.ts'
import type { McpMethod } from '../call.ts'
import { FIXED_TTL_MS } from '../discover.ts'
import { insufficientScope, invalidParams } from '../failures.ts'
import type { Json } from '../protocol.ts'
import { TOOLS } from './table.ts'
import type { Tool } from './tool.ts'

/** The tools that the caller may use at all, whatever its token allows: a client can ask for more scopes. */
export const listTools: McpMethod = {
  revisions: 'all',
  ttl_ms: FIXED_TTL_MS,
  prepare({ ctx, actor, scopes, request }) {
    if (!scopes.has('chat:read')) throw insufficientScope('chat:read')
    if (request.params.cursor !== undefined) throw invalidParams('There is one page of tools: leave "cursor" out.')
    return {
      async run() {
        const offered = await Promise.all(
          Object.entries(TOOLS).map(async ([name, tool]) =>
            (await isOffered(tool, ctx, actor)) ? [describe(name, tool)] : [],
          ),
        )
        return { tools: offered.flat() }
      },
    }
  },
}

/** Whether a tool is in the list of an actor. */
export async function isOffered({ isOffered }: Tool, ctx: Context, actor: Actor): Promise<boolean> {
  return isOffered ? isOffered(ctx, actor) : true
}

const descriptions = new Map<string, Json>()

/** A tool as clients read it: the same in each list. */
function describe(name: string, { title, description, effect, args, output }: Tool): Json {
  const made = descriptions.get(name) ?? {
    name,
    title,
    description,
    inputSchema: toSchema(args, 'input'),
    outputSchema: toSchema(output, 'output'),
    annotations: {
      readOnlyHint: effect === 'reads',
      destructiveHint: false,
      idempotentHint: effect !== 'adds',
      openWorldHint: false,
    },
  }
  descriptions.set(name, made)
  return made
}

/** A schema in JSON Schema 2020-12, which needs no name where the protocol says so. */
function toSchema(schema: GenericSchema, typeMode: 'input' | 'output'): Json {
  const { $schema: _, ...json } = toJsonSchema(schema, { ...CONVERSION, typeMode })
  return json
}
