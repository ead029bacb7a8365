import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { S3Options } from '../../lib/storage/objects/s3-client.ts'

/** A bucket in memory, which checks what S3 checks: the signature, the digest of the body, the sizes of parts. */
export interface TestBucket {
  options: S3Options
  objects: Map<string, Buffer>
  /** The uploads that were begun and neither completed nor aborted. */
  uploads: Map<string, Buffer[]>
  /** The requests so far, such as `PUT part`. */
  requests: string[]
  /**
   * What happens to the next requests that it returns something for: a status, no answer, or an answer that is lost after
   * the request was carried out.
   */
  trouble: (what: string) => Trouble | Promise<Trouble>
  close(): Promise<void>
}

type Trouble = number | 'hang' | 'lose' | undefined

const BUCKET = 'chat'
const KEYS = { access_key_id: 'test-key', secret_access_key: 'test-secret' }
const REGION = 'eu-test-1'
const MIN_PART = 5 * 1024 * 1024

/** Starts a server with one bucket. */
export async function startBucket(): Promise<TestBucket> {
  const server = createServer((request, response) => {
    handle(bucket, request, response).catch((error) => fail(response, 500, error.message))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const bucket: TestBucket = {
    options: { bucket: BUCKET, prefix: 'backups', endpoint: `http://127.0.0.1:${port}`, region: REGION, ...KEYS },
    objects: new Map(),
    uploads: new Map(),
    requests: [],
    trouble: () => undefined,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return bucket
}

async function handle(bucket: TestBucket, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url!, 'http://localhost')
  const body = await buffer(request)
  const what = `${request.method} ${['uploads', 'partNumber', 'uploadId', 'list-type'].find((each) => url.searchParams.has(each)) ?? 'object'}`
  bucket.requests.push(what)
  const trouble = await bucket.trouble(what)
  if (trouble === 'hang') return
  if (trouble === 'lose') request.socket.destroy()
  else if (trouble) return fail(response, trouble, 'InternalError')
  const refusal = refuse(request, url, body)
  if (refusal) return fail(response, 403, refusal)
  const key = decodeURIComponent(url.pathname.slice(`/${BUCKET}/`.length))
  const query = url.searchParams
  if (query.has('list-type')) return list(bucket, query, response)
  if (query.has('uploads')) {
    const id = `upload-${bucket.requests.length}`
    bucket.uploads.set(id, [])
    return xml(response, `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`)
  }
  if (query.has('uploadId')) return upload(bucket, { key, query, method: request.method!, body }, response)
  return object(bucket, { key, method: request.method!, body, range: request.headers.range }, response)
}

function upload(
  { uploads, objects }: TestBucket,
  { key, query, method, body }: { key: string; query: URLSearchParams; method: string; body: Buffer },
  response: ServerResponse,
): undefined {
  const id = query.get('uploadId')!
  const parts = uploads.get(id)
  if (!parts) return fail(response, 404, 'NoSuchUpload')
  if (method === 'PUT') {
    parts[Number(query.get('partNumber')) - 1] = body
    response.setHeader('etag', `"${createHash('md5').update(body).digest('hex')}"`)
    response.end()
  } else if (method === 'DELETE') {
    uploads.delete(id)
    response.statusCode = 204
    response.end()
  } else {
    const tags = [...body.toString().matchAll(/<ETag>(.*?)<\/ETag>/g)].map(([, tag]) => tag!.replaceAll('&#34;', ''))
    const should = parts.map((part) => createHash('md5').update(part).digest('hex'))
    if (tags.join() !== should.join()) return fail(response, 400, 'InvalidPart')
    if (parts.slice(0, -1).some((part) => part.length < MIN_PART)) return fail(response, 400, 'EntityTooSmall')
    uploads.delete(id)
    objects.set(key, Buffer.concat(parts))
    xml(response, '<CompleteMultipartUploadResult></CompleteMultipartUploadResult>')
  }
}

function object(
  { objects }: TestBucket,
  { key, method, body, range }: { key: string; method: string; body: Buffer; range: string | undefined },
  response: ServerResponse,
): undefined {
  if (method === 'PUT') {
    objects.set(key, body)
    response.end()
    return
  }
  const found = objects.get(key)
  if (method === 'DELETE') {
    objects.delete(key)
    response.statusCode = 204
    response.end()
    return
  }
  if (!found) return fail(response, 404, 'NoSuchKey')
  const [, start, end] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? []
  const part = found.subarray(Number(start ?? 0), end ? Number(end) + 1 : undefined)
  response.writeHead(range ? 206 : 200, { 'content-length': part.length })
  response.end(method === 'HEAD' ? undefined : part)
}

/** Pages are small, so that every list has several. */
function list({ objects }: TestBucket, query: URLSearchParams, response: ServerResponse): void {
  const after = query.get('start-after') ?? ''
  const size = Math.min(Number(query.get('max-keys')), 3)
  const keys = [...objects.keys()].filter((key) => key.startsWith(query.get('prefix') ?? '') && key > after).sort()
  const entries = keys.slice(0, size).map((key) => {
    return `<Contents><Key>${key}</Key><Size>${objects.get(key)!.length}</Size></Contents>`
  })
  const more = `<IsTruncated>${keys.length > size}</IsTruncated>`
  xml(response, `<ListBucketResult>${more}${entries.join('')}</ListBucketResult>`)
}

function xml(response: ServerResponse, body: string): void {
  response.setHeader('content-type', 'application/xml')
  response.end(`<?xml version="1.0" encoding="UTF-8"?>\n${body}`)
}

function fail(response: ServerResponse, status: number, code: string): undefined {
  response.statusCode = status
  xml(response, `<Error><Code>${code}</Code></Error>`)
}

/** Signature Version 4, from its description (docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html). */
function refuse(request: IncomingMessage, url: URL, body: Buffer): string | undefined {
  if (!url.pathname.startsWith(`/${BUCKET}/`)) return 'NoSuchBucket'
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=(\w+)$/
  const [, key, day, region, names, signature] = pattern.exec(request.headers.authorization ?? '') ?? []
  if (key !== KEYS.access_key_id) return 'InvalidAccessKeyId'
  const hash = createHash('sha256').update(body).digest('hex')
  if (region !== REGION || request.headers['x-amz-content-sha256'] !== hash) return 'XAmzContentSHA256Mismatch'
  const signed = names!.split(';')
  if (!['host', 'x-amz-date', 'x-amz-content-sha256'].every((name) => signed.includes(name))) return 'AccessDenied'
  const encode = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
  const query = [...url.searchParams].map(([name, value]) => `${encode(name)}=${encode(value)}`).sort()
  const headers = signed.map((name) => `${name}:${String(request.headers[name]).trim()}\n`)
  const canonical = [request.method, url.pathname, query.join('&'), headers.join(''), names, hash].join('\n')
  const digest = createHash('sha256').update(canonical).digest('hex')
  const text = ['AWS4-HMAC-SHA256', request.headers['x-amz-date'], `${day}/${region}/s3/aws4_request`, digest].join(
    '\n',
  )
  const hmac = (secret: string | Buffer, data: string) => createHmac('sha256', secret).update(data).digest()
  const secret = [day!, region!, 's3', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${KEYS.secret_access_key}`)
  return hmac(secret, text).toString('hex') === signature ? undefined : 'SignatureDoesNotMatch'
}
