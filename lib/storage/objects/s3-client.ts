import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { AwsV4Signer } from 'aws4fetch'

/** How to reach a bucket. */
export interface S3Options {
  bucket: string
  /** Before each key, without a slash at either end. Default: none. */
  prefix?: string
  endpoint?: string | undefined
  region: string
  access_key_id: string
  secret_access_key: string
  session_token?: string | undefined
  /** Whether the bucket is in the path. Default true. */
  path_style?: boolean
  /** How long a request may take besides sending its body, and how long a download may pause. Default 60 seconds. */
  timeout_ms?: number
  /** How often a request is sent at most. Default 3. */
  attempts?: number
  /** The rate below which sending a body is given up, in bytes per millisecond. Default 32, or 256 kbit/s. */
  slowest?: number
  /** What the settings are called where they are set, for errors. Default: those of backups. */
  names?: S3Names
}

/** The names of the settings of a bucket. */
export interface S3Names {
  region: string
  access_key_id: string
  secret_access_key: string
}

/** A request, without the bucket. */
export interface S3Request {
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  key?: string
  query?: Record<string, string>
  body?: Uint8Array | string
  headers?: Record<string, string>
  /** Whether the answer is a download, which may take any time once it has begun. */
  download?: true
  signal?: AbortSignal | undefined
}

/** An answer of 200 to 299, or 404. */
export type S3Send = (request: S3Request) => Promise<Response>

const TIMEOUT_MS = 60_000

/** `fetch` waits for an answer for five minutes at most. */
const SLOWEST = 32

const NAMES: S3Names = {
  region: 'backup.s3.region',
  access_key_id: 'backup.s3.access_key_id',
  secret_access_key: 'backup.s3.secret_access_key',
}

/** Failures that may pass are tried again after pauses of 0.2 and 0.8 seconds; a backup is tried again later anyway. */
const MAX_ATTEMPTS = 3
const PAUSE_MS = 200

/** Sends signed requests to a bucket (AWS Signature Version 4). Every request is one that may be repeated. */
export function createS3Client(options: S3Options): S3Send {
  const base = baseOf(options)

  async function sendOnce(request: S3Request): Promise<Response> {
    const { method, key = '', query = {}, body, headers = {}, download, signal } = request
    const url = new URL(base)
    if (key) url.pathname += key
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    const signed = await new AwsV4Signer({
      url: url.href,
      method,
      // With it the server refuses a body that was damaged on its way.
      headers: {
        ...headers,
        'x-amz-content-sha256': createHash('sha256')
          .update(body ?? '')
          .digest('hex'),
      },
      service: 's3',
      region: options.region,
      accessKeyId: options.access_key_id,
      secretAccessKey: options.secret_access_key,
      ...(options.session_token && { sessionToken: options.session_token }),
    }).sign()
    const timeout = new AbortController()
    const abort = () => timeout.abort(new DOMException('It takes too long', 'TimeoutError'))
    const sendingMs = (body?.length ?? 0) / (options.slowest ?? SLOWEST)
    const timer = setTimeout(abort, (options.timeout_ms ?? TIMEOUT_MS) + sendingMs).unref()
    const response = await fetch(signed.url, {
      method,
      headers: signed.headers,
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal,
      ...(body !== undefined && { body: body as BodyInit }),
    })
    if (download) clearTimeout(timer)
    return response
  }

  return async (request) => {
    for (let attempt = 1; ; attempt++) {
      const isLast = attempt === (options.attempts ?? MAX_ATTEMPTS)
      try {
        const response = await sendOnce(request)
        if (response.ok || response.status === 404) return response
        const error = await toError(request, response, options.names ?? NAMES)
        if (isLast || (response.status < 500 && response.status !== 429)) throw error
      } catch (cause) {
        request.signal?.throwIfAborted()
        if (cause instanceof S3Error) throw cause
        if (isLast) throw new Error(`${new URL(base).host} does not answer: ${reasonOf(cause)}`, { cause })
      }
      await sleep(PAUSE_MS * 4 ** (attempt - 1), undefined, { signal: request.signal })
    }
  }
}

/** S3 has refused a request. */
export class S3Error extends Error {
  readonly status: number
  /** As S3 names it, such as `AccessDenied`; '' if it gives no name. */
  readonly code: string

  constructor(message: string, { status, code }: { status: number; code: string }) {
    super(message)
    this.status = status
    this.code = code
  }
}

async function toError({ method, key }: S3Request, response: Response, names: S3Names): Promise<Error> {
  const text = await response.text().catch(() => '')
  const code = /<Code>([\w.]{1,100})<\/Code>/.exec(text)?.[1]
  const region = response.headers.get('x-amz-bucket-region') ?? /<Region>([\w-]{1,50})<\/Region>/.exec(text)?.[1]
  const isElsewhere = response.status === 301 || code === 'AuthorizationHeaderMalformed'
  const elsewhere = `: set ${names.region}${region ? ` = "${region}"` : ' to that of the bucket'}`
  const hint = isElsewhere ? elsewhere : (hintsOf(names)[code ?? ''] ?? '')
  return new S3Error(
    `S3 answers ${response.status}${code ? ` ${code}` : ''} to ${method} ${key ?? 'the bucket'}${hint}`,
    { status: response.status, code: code ?? '' },
  )
}

const hintsOf = (names: S3Names): Record<string, string> => ({
  NoSuchBucket: ': create the bucket',
  InvalidAccessKeyId: `: correct ${names.access_key_id}`,
  SignatureDoesNotMatch: `: correct ${names.secret_access_key}`,
  AccessDenied: ': allow this key to read, write, list and delete objects there',
  RequestTimeTooSkewed: ': set the clock of this machine',
})

function reasonOf(error: unknown): string {
  const { message, cause, name } = error as Error
  if (name === 'TimeoutError') return 'it takes too long'
  return cause instanceof Error && cause.message ? cause.message : message
}

/** The URL of the bucket, with a slash at its end. */
function baseOf({ endpoint, region, bucket, path_style = true }: S3Options): string {
  const url = new URL(endpoint ?? `https://s3.${region}.amazonaws.com`)
  const path = url.pathname.replace(/\/$/, '')
  if (path_style) url.pathname = `${path}/${bucket}/`
  else url.hostname = `${bucket}.${url.hostname}`
  return url.href
}
