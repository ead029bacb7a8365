import type { Requester } from './request.ts'

/** What each client sends its requests with, for entry points beside it. */
export const requesters = new WeakMap<object, Requester>()
