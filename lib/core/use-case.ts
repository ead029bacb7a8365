import * as v from 'valibot'
import type { Context } from '../context.ts'
import { ChatError } from './errors.ts'
import { LONGEST } from './lengths.ts'

/** A feature's use-cases, with the schema of the last argument of those that take an input. */
interface Feature {
  inputs?: Record<string, v.GenericSchema>
}

type Inputs<F> = F extends { inputs: infer I } ? I : Record<never, never>

/** The last argument as a caller may write it: defaults left out, or nothing at all where all of it has defaults. */
type WithInput<Args extends unknown[], Schema> = Args extends [...infer Head, infer _Last]
  ? Schema extends v.GenericSchema
    ? Record<never, never> extends v.InferInput<Schema>
      ? [...Head, input?: v.InferInput<Schema>]
      : [...Head, input: v.InferInput<Schema>]
    : never
  : never

type UseCase<F, Name extends keyof F> = F[Name] extends (ctx: Context, ...args: infer Args) => infer Result
  ? (...args: Name extends keyof Inputs<F> ? WithInput<Args, Inputs<F>[Name]> : Args) => Result
  : never

/** The use-cases of a feature as functions of the service: without the context, their input validated. */
export type Bound<F, Names extends keyof F> = { [Name in Names]: UseCase<F, Name> }

/**
 * Binds some use-cases of a feature to a service. This is the edge at which input is validated, for HTTP and for the
 * host alike.
 */
export function bind<F extends object, Names extends keyof F & string>(
  ctx: Context,
  feature: F,
  names: readonly Names[],
): Bound<F, Names> {
  const { inputs = {} } = feature as Feature
  return Object.fromEntries(
    names.map((name) => {
      const useCase = feature[name] as (ctx: Context, ...args: unknown[]) => unknown
      const schema = inputs[name]
      const arity = useCase.length
      return [
        name,
        (...args: unknown[]) => {
          try {
            for (const [index, arg] of args.entries()) if (!schema || index !== arity - 2) assertMeasured(arg)
            if (schema) args[arity - 2] = parseInput(schema, args[arity - 2])
            return useCase(ctx, ...args)
          } catch (error) {
            return Promise.reject(error)
          }
        },
      ]
    }),
  ) as unknown as Bound<F, Names>
}

/**
 * Looks at how long the texts are that come beside the input: identifiers, and what is known of the caller.
 *
 * @throws ChatError `not_found` for what is too long to be the name of anything; `validation_failed`
 */
function assertMeasured(arg: unknown): void {
  if (typeof arg === 'string' && arg.length > LONGEST.url) throw new ChatError('not_found')
  if (typeof arg !== 'object' || arg === null) return
  for (const [path, value] of Object.entries(arg))
    if (typeof value === 'string' && value.length > LONGEST.header)
      throw new ChatError('validation_failed', {
        errors: [{ path, message: `must be at most ${LONGEST.header} characters` }],
      })
}

/** @throws ChatError `validation_failed`, with each field at fault */
export function parseInput<S extends v.GenericSchema>(schema: S, input: unknown = {}): v.InferOutput<S> {
  // An array would pass for an object without any of its keys.
  if (Array.isArray(input))
    throw new ChatError('validation_failed', { errors: [{ path: '', message: 'must be an object' }] })
  // Aborted early, nothing is normalised or matched that is too long.
  const parsed = v.safeParse(schema, input, { abortPipeEarly: true, message: wording })
  if (parsed.success) return parsed.output
  throw new ChatError('validation_failed', {
    errors: parsed.issues.map((issue) => ({ path: pathOf(issue), message: issue.message })),
  })
}

/** What is wrong with a field, without what was in it: that may be a password in the wrong place. */
function wording({ type, expected, input, requirement }: v.BaseIssue<unknown>): string {
  if (input === undefined) return 'is missing'
  const unit = typeof input === 'string' ? 'characters' : 'entries'
  if (type === 'min_length') return `must be at least ${requirement} ${unit}`
  if (type === 'max_length') return `must be at most ${requirement} ${unit}`
  if (type === 'integer' || type === 'safe_integer') return 'must be a whole number'
  return `must be ${expected ?? 'of another form'}`
}

function pathOf(issue: v.BaseIssue<unknown>): string {
  return (issue.path ?? []).reduce(
    (path, { key }) => (typeof key === 'number' ? `${path}[${key}]` : path ? `${path}.${String(key)}` : String(key)),
    '',
  )
}
