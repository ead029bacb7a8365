import type * as v from 'valibot'
import { expect, expectTypeOf, it } from 'vitest'
import type { Config, ConfigInput } from '../../lib/api/config.ts'
import type { Features } from '../../lib/api/features.ts'
import type { AdminClient } from '../../lib/client/admin.ts'
import type { CallOptions } from '../../lib/client/index.ts'
import type { AssistantsSection } from '../../lib/config/assistants.ts'
import type { OauthSection } from '../../lib/config/oauth.ts'
import { parseConfig } from '../../lib/config/parse.ts'
import type { ConfigSchema } from '../../lib/config/schema.ts'
import type { ToolsSection } from '../../lib/config/tools.ts'
import type { Context } from '../../lib/context.ts'
import type { Bound } from '../../lib/core/use-case.ts'
import type { Route } from '../../lib/endpoint.ts'
import type { endpoints } from '../../lib/endpoints.ts'
import type { FUNCTIONS, LOOPS, USE_CASES } from '../../lib/features.ts'

// `lib/api` is generated, and read by people and editors only: the compiler sees here that it is what the code does.

type AnyFunction = (...args: never[]) => unknown

/** Whether either can stand for the other, of functions with what they take and return. */
type Same<A, B> = A extends AnyFunction
  ? B extends AnyFunction
    ? [Both<Parameters<A>, Parameters<B>>, Both<ReturnType<A>, ReturnType<B>>] extends [true, true]
      ? true
      : false
    : false
  : Both<A, B>
type Both<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false

/** The members that are not the same in both, as `feature.verb`. */
type Differences<A, B> = {
  [F in keyof (A & B) & string]: F extends keyof A & keyof B
    ? {
        [V in keyof (A[F] & B[F]) & string]: V extends keyof A[F] & keyof B[F]
          ? Same<A[F][V], B[F][V]> extends true
            ? never
            : `${F}.${V}`
          : `${F}.${V}`
      }[keyof (A[F] & B[F]) & string]
    : F
}[keyof (A & B) & string]

type WithoutContext<F> = F extends (ctx: Context, ...args: infer Args) => infer Result
  ? (...args: Args) => Result
  : never

/** A service as its use-cases and functions make it. */
type Implemented = {
  [F in keyof typeof USE_CASES]: BoundAll<(typeof USE_CASES)[F]> & Of<typeof FUNCTIONS, F> & Of<typeof LOOPS, F>
}
type BoundAll<T> = { [V in keyof T]: Bound<T[V]> }
type Of<T, F> = F extends keyof T ? { [V in keyof T[F]]: WithoutContext<T[F][V]> } : unknown

it('declares what a service has', () => {
  expectTypeOf<Differences<Features, Implemented>>().toBeNever()
})

type Parts<R> =
  R extends Route<infer P, infer _A, infer Q, infer B, infer O, infer K, infer C>
    ? { path: P; query: Q; body: B; output: O; kind: K; pieces: C }
    : never

type Ids<Path extends string> = Path extends `${string}{${string}}${infer Rest}` ? [string, ...Ids<Rest>] : []

/** The photo of a user is the one input that is bytes. */
type InputOf<R> = Parts<R> extends { path: '/api/auth/me/avatar'; output: v.GenericSchema } ? Blob : JsonOf<R>

type JsonOf<R> = Parts<R>['body'] extends v.GenericSchema
  ? v.InferInput<Parts<R>['body']>
  : Parts<R>['query'] extends v.GenericSchema
    ? v.InferInput<Parts<R>['query']>
    : undefined

type Arguments<R> =
  InputOf<R> extends undefined
    ? [...Ids<Parts<R>['path']>, options?: CallOptions]
    : Record<never, never> extends InputOf<R>
      ? [...Ids<Parts<R>['path']>, input?: InputOf<R>, options?: CallOptions]
      : [...Ids<Parts<R>['path']>, input: InputOf<R>, options?: CallOptions]

type Nothing = ReturnType<() => void>

type Answer<R> = Parts<R>['kind'] extends 'text' | 'document'
  ? string
  : Parts<R>['output'] extends v.GenericSchema
    ? v.InferOutput<Parts<R>['output']>
    : Nothing

type Streaming<Input, Whole, Piece> = {
  (input: Input & { stream: true }, options?: CallOptions): Promise<AsyncGenerator<Piece>>
  (input: Input & { stream?: false | null }, options?: CallOptions): Promise<Whole>
}

type Method<R> = Parts<R>['pieces'] extends v.GenericSchema
  ? Streaming<InputOf<R>, Answer<R>, v.InferOutput<Parts<R>['pieces']>>
  : (...args: Arguments<R>) => Promise<Answer<R>>

/** Files, and parts of them: the client has functions of its own for these. Frames are for clients of their protocols. */
type OfBytes<R> = Parts<R>['kind'] extends 'file' | 'frames'
  ? true
  : Parts<R>['path'] extends `${string}/parts/{n}`
    ? true
    : false

/** What clients of others call. */
type OfProtocol = 'getModel' | 'getCompletion'

/** The client as the routes describe it. */
type Described = {
  [F in Exclude<keyof typeof endpoints, 'events' | 'responses'>]: {
    [V in Exclude<keyof (typeof endpoints)[F], OfProtocol> as OfBytes<(typeof endpoints)[F][V]> extends true
      ? never
      : V]: Method<(typeof endpoints)[F][V]>
  }
}

/** Both clients together, without the streams and what is made of several calls. */
type CalledFeatures = Omit<AdminClient, 'events' | 'upload'>

it('declares what the clients have', () => {
  expectTypeOf<Differences<CalledFeatures, Described>>().toBeNever()
  expectTypeOf<CalledFeatures['openai']['complete']>().toExtend<Described['openai']['complete']>()
  expectTypeOf<Described['openai']['complete']>().toExtend<CalledFeatures['openai']['complete']>()
})

it('declares what the configuration has', () => {
  expectTypeOf<Both<Config, v.InferOutput<typeof ConfigSchema>>>().toEqualTypeOf<true>()
  type Written = v.InferInput<typeof ConfigSchema>
  expectTypeOf<
    Both<Omit<ConfigInput, 'oauth' | 'assistants' | 'tools'>, Omit<Written, 'oauth' | 'assistants' | 'tools'>>
  >().toEqualTypeOf<true>()
  // These schemas take anything below a name, and look at it then.
  expectTypeOf<ConfigInput['assistants']>().toExtend<v.InferInput<typeof AssistantsSection>>()
  expectTypeOf<ConfigInput['tools']>().toExtend<v.InferInput<typeof ToolsSection>>()
  expectTypeOf<ConfigInput['oauth']>().toExtend<v.InferInput<typeof OauthSection>>()
  expectTypeOf<NonNullable<NonNullable<ConfigInput['oauth']>['github']>>()
    .exclude<boolean>()
    .toHaveProperty('client_id')
})

it('takes a part of the configuration whose every key is known, and checks at run time what the compiler did not', () => {
  expectTypeOf(parseConfig).parameter(0).toEqualTypeOf<ConfigInput | undefined>()
  expect(
    parseConfig({
      server: { port: 1 },
      oauth: { github: { client_id: 'a', client_secret: 'b', redirect_uri: 'http://localhost/' } },
    }).server.port,
  ).toBe(1)
  // @ts-expect-error a key that is none
  expect(() => parseConfig({ server: { prot: 1 } })).toThrow('did you mean server.port?')
  // @ts-expect-error of another type
  expect(() => parseConfig({ server: { port: '1' } })).toThrow('server.port: must be')
  // @ts-expect-error none of the words there are
  expect(() => parseConfig({ log: { level: 'loud' } })).toThrow('log.level: must be one of')
  const unknown: unknown = JSON.parse('{ "database": { "url": 5 } }')
  // @ts-expect-error not known to be a configuration
  expect(() => parseConfig(unknown)).toThrow('database.url')
})

it('sees a difference', () => {
  type Wrong = Omit<Features, 'users'> & { users: Omit<Features['users'], 'find'> & { find: () => void } }
  expectTypeOf<Differences<Features, Wrong>>().toEqualTypeOf<'users.find'>()
  expectTypeOf<Differences<Features, Omit<Features, 'users'>>>().toEqualTypeOf<'users'>()
  expectTypeOf<
    Differences<Features, { users: Omit<Features['users'], 'find'> } & Omit<Features, 'users'>>
  >().toEqualTypeOf<'users.find'>()
})
