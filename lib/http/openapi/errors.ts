import type { ErrorCode } from '../../core/errors.ts'
import { type AnyRoute, isLimited } from '../../endpoint.ts'
import { apiGroupOf } from '../api-groups.ts'

/** The error codes of a route, including those of its access and its API group. */
export function errorsOf(route: AnyRoute): ErrorCode[] {
  const isSession = route.access === 'session' || route.access === 'admin'
  const codes: (ErrorCode | false)[] = [
    'bad_request',
    apiGroupOf(route.path).isServed !== undefined && 'not_found',
    'method_not_allowed',
    isSession && 'unauthenticated',
    isSession && 'session_expired',
    ((route.changes && !route.is_by_address) || route.answer === 'stream' || route.answer === 'frames') &&
      'csrf_failed',
    // A token without the scope gets it, too.
    route.access !== 'public' && 'forbidden',
    route.access === 'optional' && 'unauthenticated',
    // A server key names an account by Chat-Act-As, which may be none, disabled or written wrongly.
    route.access !== 'public' && 'not_found',
    route.access !== 'public' && 'account_disabled',
    route.access !== 'public' && 'validation_failed',
    route.body !== undefined && 'malformed_json',
    route.body !== undefined && 'payload_too_large',
    route.body !== undefined && 'unsupported_media_type',
    route.bytes !== undefined && 'request_timeout',
    route.bytes !== undefined && 'payload_too_large',
    route.bytes !== undefined && 'unsupported_media_type',
    (route.body !== undefined || route.bytes !== undefined || route.query !== undefined) && 'validation_failed',
    isLimited(route) && 'rate_limited',
    isLimited(route) && 'unavailable',
    route.changes && 'storage_full',
    'internal',
  ]
  return [...new Set([...route.errors, ...codes.filter((code) => code !== false)])]
}
