import type { Context } from '../context.ts'

/** Where a service keeps its context: out of its type, so that hosts see use-cases only, and part of a copy of it. */
const CONTEXT = Symbol('context')

/** A service with the context that the adapters of this package reach by {@link contextOf}. */
export function withinContext<T extends object>(ctx: Context, service: T): T {
  return Object.assign(service, { [CONTEXT]: ctx })
}

/** Everything alive of a service. */
export function contextOf(service: object): Context {
  const ctx = (Object(service) as { [CONTEXT]?: Context })[CONTEXT]
  if (!ctx) throw new TypeError('Expected a service that createChatService returned')
  return ctx
}
