import * as v from 'valibot'
import type { Client, Context, Endpoint } from '../context.ts'
import type { Actor } from './actor.ts'
import { assertArguments } from './arguments.ts'
import { ChatError, type ErrorCode, type FieldError } from './errors.ts'
import { type NamesOf, type UnknownName, unknownNames } from './known-names.ts'
import { MAX_LENGTH } from './lengths.ts'
import { assertStarted } from './lifecycle.ts'
import { namesIn } from './schema-names.ts'
import { withReserve } from './with-reserve.ts'

/** The arguments of a use-case before its input: the actor, the client, the endpoints of the adapter, or an id. */
type Taken<Name extends string> = Name extends 'actor'
  ? Actor
  : Name extends 'actor?'
    ? Actor | undefined
    : Name extends 'client'
      ? Client
      : Name extends 'endpoints'
        ? readonly Endpoint[]
        : Name extends 'user'
          ? UserName
          : Name extends 'call_ids'
            ? string | readonly string[]
            : string

/** A user: by id, or in the process by the host's own id. */
export type UserName = string | { subject: string }

type Arguments<Takes extends readonly string[]> = { [I in keyof Takes]: Taken<Takes[I]> }

/** The input as a caller may write it: without defaults, or `undefined` if every field has one. */
type Input<Schema> = Schema extends v.GenericSchema
  ? Record<never, never> extends v.InferInput<Schema>
    ? [input?: v.InferInput<Schema>]
    : [input: v.InferInput<Schema>]
  : []

/** One operation of the service, for every adapter. */
export interface UseCase<
  Takes extends readonly string[] = readonly string[],
  Schema extends v.GenericSchema | undefined = v.GenericSchema | undefined,
  Result = unknown,
> {
  /** The arguments before the input: `actor`, `actor?` (optional), `client`, `endpoints`, `user`, `call_ids` (one, or a list), ids by their names. */
  takes: Takes
  /** Validates the input, for HTTP and for hosts. */
  input: Schema
  /** The codes of its failures, besides those of invalid input. */
  errors: readonly ErrorCode[]
  /** Whether it can be called before the start and after the close, too. */
  anytime?: true
  /** For what ends a means of access, or deletes: the part of the reserve that it may use when the disk is full. */
  frees?: 'half' | 'whole'
  run: (
    ctx: Context,
    ...args: [...Arguments<Takes>, ...(Schema extends v.GenericSchema ? [v.InferOutput<Schema>] : [])]
  ) => Result
}

/** Any use-case, where the types of its parts do not matter. */
// biome-ignore lint/suspicious/noExplicitAny: arguments are contravariant, so no other type takes every use-case.
export type AnyUseCase = UseCase<any, any, any>

/** Creates a use-case; without `input` it takes none. */
export function useCase<
  const Takes extends readonly string[],
  Result,
  Schema extends v.GenericSchema | undefined = undefined,
>(
  spec: Omit<UseCase<Takes, Schema, Result>, 'input' | 'errors'> & {
    input?: Schema
    errors?: readonly ErrorCode[]
  },
): UseCase<Takes, Schema, Result> {
  return { errors: [], ...spec, input: spec.input as Schema }
}

/** The use-cases that a module exports, by their names. Sorted, since a bundled module lists its exports in another order. */
export function useCasesOf<Module extends object>(
  module: Module,
): { [Name in keyof Module as Module[Name] extends AnyUseCase ? Name : never]: Module[Name] } {
  const isUseCase = (value: unknown) => value instanceof Object && 'takes' in value && 'run' in value
  const names = Object.keys(module).sort() as (keyof Module)[]
  return Object.fromEntries(names.flatMap((name) => (isUseCase(module[name]) ? [[name, module[name]]] : []))) as never
}

const CLIENT: NamesOf<Client> = { ip: 0, user_agent: 0, token: 0, binding: 0, device: 0, isGone: 0 }

/** A use-case as a function of a service: without the context, its input validated. */
export type Bound<U> =
  U extends UseCase<infer Takes, infer Schema, infer Result>
    ? (...args: [...Arguments<Takes>, ...Input<Schema>]) => Result
    : never

/** Binds a use-case to a service. This is the edge at which input is validated: an unknown field is refused. */
export function bind<U extends AnyUseCase>(ctx: Context, useCase: U): Bound<U> {
  const count = useCase.takes.length
  const client = useCase.takes.indexOf('client')
  return ((...args: unknown[]) => {
    const errors = client < 0 ? [] : toErrors(unknownNames(args[client], CLIENT))
    if (errors.length > 0) return Promise.reject(new ChatError('validation_failed', { errors }))
    return invoke(ctx, useCase, args.slice(0, count), args[count], parseKnown)
  }) as Bound<U>
}

/**
 * Calls a use-case once: {@link bind} would make a function for it.
 *
 * @param parse by default as over HTTP: unknown fields are ignored, so that clients may be newer than the service
 */
export function invoke(
  ctx: Context,
  useCase: AnyUseCase,
  scope: unknown[],
  given: unknown,
  parse: typeof parseInput = parseInput,
): unknown {
  const { takes, input, run, anytime, frees } = useCase
  try {
    if (!anytime) assertStarted(ctx)
    assertArguments(takes, scope)
    scope.forEach(assertMeasured)
    const result = run(
      frees ? withReserve(ctx, frees) : ctx,
      ...(scope as never[]),
      ...(input ? [parse(input, given)] : []),
    )
    if (!(result instanceof Promise)) return result
    const actor = scope[(takes as string[]).findIndex((name) => name === 'actor' || name === 'actor?')]
    const call = { actor: actor as Actor | undefined, args: [scope, given], errors: useCase.errors }
    return result.catch(async (error) => Promise.reject(await ctx.accounts.explain(ctx, call, error)))
  } catch (error) {
    return Promise.reject(error)
  }
}

/** Binds several use-cases to a service. */
export function bindAll<F extends Record<string, AnyUseCase>>(
  ctx: Context,
  useCases: F,
): { [Name in keyof F]: Bound<F[Name]> } {
  return Object.fromEntries(Object.entries(useCases).map(([name, value]) => [name, bind(ctx, value)])) as never
}

/** Binds a function with the context as its first argument, for calls within the process. */
export function withContext<Args extends unknown[], Result>(
  ctx: Context,
  run: (ctx: Context, ...args: Args) => Promise<Result>,
  options: { takes?: readonly string[]; anytime?: boolean } = {},
): (...args: Args) => Promise<Result> {
  return async (...args) => {
    if (!options.anytime) assertStarted(ctx)
    assertArguments(options.takes ?? [], args)
    args.forEach(assertMeasured)
    return run(ctx, ...args)
  }
}

/** Binds a function that returns an async iterable. Wrong arguments fail at the first step of the loop. */
export function loopWithContext<Args extends unknown[], Item>(
  ctx: Context,
  run: (ctx: Context, ...args: Args) => AsyncGenerator<Item>,
  takes: readonly string[] = [],
): (...args: Args) => AsyncGenerator<Item> {
  return async function* (...args) {
    assertStarted(ctx)
    assertArguments(takes, args)
    args.forEach(assertMeasured)
    yield* run(ctx, ...args)
  }
}

/**
 * Checks the length of the texts before the input: identifiers, and client metadata.
 *
 * @throws ChatError `not_found` for a text too long to be an id; `validation_failed`
 */
function assertMeasured(arg: unknown): void {
  if (typeof arg === 'string' && arg.length > MAX_LENGTH.url) throw new ChatError('not_found')
  if (typeof arg !== 'object' || arg === null) return
  for (const path of Object.keys(arg)) {
    const value = (arg as Record<string, unknown>)[path]
    if (typeof value === 'string' && value.length > MAX_LENGTH.header)
      throw new ChatError('validation_failed', {
        errors: [{ path, message: `must be at most ${MAX_LENGTH.header} characters` }],
      })
  }
}

/** @throws ChatError `validation_failed`, with each invalid field */
export function parseInput<S extends v.GenericSchema>(schema: S, input: unknown = {}): v.InferOutput<S> {
  return parseWithout([], schema, input)
}

/**
 * An input from JavaScript, where the compiler has not seen a misspelt field.
 *
 * @throws ChatError `validation_failed`, with each invalid and each unknown field
 */
export function parseKnown<S extends v.GenericSchema>(schema: S, input: unknown = {}): v.InferOutput<S> {
  return parseWithout(unknownNames(input, namesIn(schema)), schema, input)
}

/**
 * Refuses options of a function of a feature with a name that is none of theirs.
 *
 * @throws ChatError `validation_failed`
 */
export function assertKnown<T extends object>(options: T | undefined, names: NamesOf<T>): void {
  const errors = toErrors(unknownNames(options, names))
  if (errors.length > 0) throw new ChatError('validation_failed', { errors })
}

function toErrors(unknown: UnknownName[]): FieldError[] {
  return unknown.map(({ path, hint }) => ({ path, message: `unknown name${hint}` }))
}

function parseWithout<S extends v.GenericSchema>(unknown: UnknownName[], schema: S, input: unknown): v.InferOutput<S> {
  // An array would otherwise pass as an object without keys.
  if (Array.isArray(input))
    throw new ChatError('validation_failed', { errors: [{ path: '', message: 'must be an object' }] })
  // Aborted early, so that no text that is too long is normalised or matched.
  const parsed = v.safeParse(schema, input, { abortPipeEarly: true, message: wording })
  if (parsed.success && unknown.length === 0) return parsed.output
  const invalid = (parsed.issues ?? []).map((issue) => ({ path: pathOf(issue), message: issue.message }))
  const others = invalid.filter(({ path }) => !unknown.some((issue) => issue.path === path))
  throw new ChatError('validation_failed', { errors: [...toErrors(unknown), ...others] })
}

/** The problem of a field, without its value: that may be a password in the wrong field. */
function wording({ type, expected, input, requirement }: v.BaseIssue<unknown>): string {
  if (input === undefined) return 'is missing'
  const unit = typeof input === 'string' ? 'characters' : 'entries'
  switch (type) {
    case 'min_length':
      return requirement === 1 ? 'must not be empty' : `must be at least ${requirement} ${unit}`
    case 'max_length':
      return `must be at most ${requirement} ${unit}`
    case 'length':
      return `must have ${requirement} ${unit}`
    case 'integer':
    case 'safe_integer':
      return 'must be a whole number'
    case 'min_value':
      return `must be at least ${requirement}`
    case 'max_value':
      return `must be at most ${requirement}`
    case 'regex':
      return `must match ${expected}`
    default:
      return `must be ${expected ? inWords(expected) : 'of another form'}`
  }
}

/** What JSON calls the types of the schemas. */
const TYPES: Record<string, string> = {
  Object: 'an object',
  Array: 'an array',
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  never: 'left out',
}

/** @param expected a type, or alternatives: `("on" | "off")` */
function inWords(expected: string): string {
  const alternatives = expected.replace(/^\((.*)\)$/, '$1').split(' | ')
  return alternatives.map((type) => TYPES[type] ?? type).join(' or ')
}

function pathOf(issue: v.BaseIssue<unknown>): string {
  return (issue.path ?? []).reduce(
    (path, { key }) => (typeof key === 'number' ? `${path}[${key}]` : path ? `${path}.${String(key)}` : String(key)),
    '',
  )
}
