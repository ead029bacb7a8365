import type { ErrorCode } from '../../core/errors.ts'
import { type AnyRoute, isLimited } from '../../endpoint.ts'
import { apiGroupOf } from '../api-groups.ts'

/** The error codes of a route, including those of its access and its API group. */
export function errorsOf(each: AnyRoute): ErrorCode[] {
  const isSession = each.access === 'session' || each.access === 'admin'
  const codes: (ErrorCode | false)[] = [
    'bad_request',
    apiGroupOf(each.path).isServed !== undefined && 'not_found',
    'method_not_allowed',
    isSession && 'unauthenticated',
    isSession && 'session_expired',
    (each.changes || each.answer === 'stream') && 'csrf_failed',
    isSession && (each.access === 'admin' || each.sign_in === true) && 'forbidden',
    each.access === 'optional' && 'unauthenticated',
    each.body !== undefined && 'malformed_json',
    each.body !== undefined && 'payload_too_large',
    each.body !== undefined && 'unsupported_media_type',
    each.bytes !== undefined && 'request_timeout',
    each.bytes !== undefined && 'payload_too_large',
    each.bytes !== undefined && 'unsupported_media_type',
    (each.body !== undefined || each.bytes !== undefined || each.query !== undefined) && 'validation_failed',
    isLimited(each) && 'rate_limited',
    isLimited(each) && 'unavailable',
    each.changes && 'storage_full',
    'internal',
  ]
  return [...new Set([...each.errors, ...codes.filter((code) => code !== false)])]
}
