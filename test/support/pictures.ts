/** Small files of every kind that the service tells apart, and hostile ones. Made here, so that each byte is known. */
export const bytesOf = (...parts: (string | Uint8Array | number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))))

/** A PNG header that says this size; no more than the header is there. */
export function pngHeader(width: number, height: number): Buffer {
  const header = bytesOf('\x89PNG\r\n\x1A\n', [0, 0, 0, 13], 'IHDR', new Uint8Array(8), [8, 6, 0, 0, 0, 0, 0, 0, 0])
  header.writeUInt32BE(width, 16)
  header.writeUInt32BE(height, 20)
  return header
}

/** A segment of a JPEG: its marker, its length, its content. */
export function segment(marker: number, content: Uint8Array): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(content.length + 2, 2)
  return Buffer.concat([head, content])
}

/** A JPEG of 16 × 8 gray pixels, which every decoder shows, in its pieces: metadata goes between start and picture. */
export const JPEG = {
  start: Buffer.from([0xff, 0xd8]),
  jfif: segment(0xe0, bytesOf('JFIF\0', [1, 1, 0, 0, 1, 0, 1, 0, 0])),
  picture: bytesOf(
    segment(0xdb, bytesOf([0], new Uint8Array(64).fill(1))),
    segment(0xc0, bytesOf([8, 0, 8, 0, 16, 1, 1, 0x11, 0])),
    // One code of one bit: no difference, and the end of a block.
    segment(0xc4, bytesOf([0x00, 1], new Uint8Array(15), [0])),
    segment(0xc4, bytesOf([0x10, 1], new Uint8Array(15), [0])),
    segment(0xda, bytesOf([1, 1, 0, 0, 63, 0])),
    [0x0f],
  ),
  end: Buffer.from([0xff, 0xd9]),
}

/** The content of an Exif segment: the orientation among other entries, and a place in words. */
export function exif(order: 'II' | 'MM', orientation: number, more = 'GPS 47.3769 N 8.5417 E'): Buffer {
  const tiff = Buffer.alloc(8 + 2 + 3 * 12 + 4)
  const [short, long] =
    order === 'II'
      ? [tiff.writeUInt16LE.bind(tiff), tiff.writeUInt32LE.bind(tiff)]
      : [tiff.writeUInt16BE.bind(tiff), tiff.writeUInt32BE.bind(tiff)]
  tiff.write(order, 'latin1')
  short(42, 2)
  long(8, 4)
  short(3, 8)
  for (const [n, [tag, type, count, value]] of [
    [0x010f, 2, 4, 0x43414d00],
    [0x0112, 3, 1, orientation],
    [0x8825, 4, 1, tiff.length],
  ].entries()) {
    const entry = 10 + n * 12
    short(tag!, entry)
    short(type!, entry + 2)
    long(count!, entry + 4)
    if (type === 3) short(value!, entry + 8)
    else long(value!, entry + 8)
  }
  return bytesOf('Exif\0\0', tiff, more)
}

/** The start of an ISO base media file with these brands. */
export function ftyp(...brands: string[]): Buffer {
  const [major, ...compatible] = brands
  const box = bytesOf([0, 0, 0, 0], 'ftyp', major!, [0, 0, 2, 0], ...compatible)
  box.writeUInt32BE(box.length)
  return box
}

/** A WebM or Matroska header. */
export function ebml(type: string): Buffer {
  const docType = bytesOf([0x42, 0x82, 0x80 + type.length], type)
  const rest = [0x42, 0xf7, 0x81, 1]
  return bytesOf([0x1a, 0x45, 0xdf, 0xa3, 0x80 + rest.length + docType.length], rest, docType)
}

/** An MP3 without a tag: two silent frames of 128 kbit/s at 44.1 kHz, 417 bytes each. */
export const MP3 = bytesOf([0xff, 0xfb, 0x90, 0], new Uint8Array(413), [0xff, 0xfb, 0x90, 0], new Uint8Array(413))

const HTML = '<!doctype html><script>alert(1)</script>'
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'

/** Files that would run a script if a browser took them for what they are not, with the type they are served as. */
export const HOSTILE: Record<string, [type: string, bytes: Buffer]> = {
  'a picture in SVG': ['application/octet-stream', bytesOf(SVG)],
  'SVG after a byte order mark and a declaration': [
    'application/octet-stream',
    bytesOf([0xef, 0xbb, 0xbf], '<?xml version="1.0"?>', SVG),
  ],
  'a page': ['application/octet-stream', bytesOf(HTML)],
  'a page in UTF-16': ['application/octet-stream', Buffer.from(`\uFEFF${HTML}`, 'utf16le')],
  'a page in UTF-7': ['application/octet-stream', bytesOf('+ADw-script+AD4-alert(1)+ADw-/script+AD4-')],
  'a page with the header of a PNG': ['image/png', bytesOf(pngHeader(1, 1), HTML)],
  'a page with the header of a GIF': ['image/gif', bytesOf('GIF89a=0;', HTML)],
  'a page with the header of an MP4': ['video/mp4', bytesOf(ftyp('isom', 'mp42'), HTML)],
  'a page with the header of a JPEG': ['image/jpeg', bytesOf([0xff, 0xd8, 0xff, 0xfe], HTML)],
  'a script with the header of a GIF': ['image/gif', bytesOf('GIF89a=1;alert(1)')],
  'a script with the header of an MP3': ['audio/mpeg', bytesOf('ID3\x03\x00\x00\x00\x00\x00\x00', HTML)],
  'a PDF with a script': [
    'application/pdf',
    bytesOf('%PDF-1.7\n1 0 obj<</OpenAction<</S/JavaScript/JS(app.alert(1))>>>>'),
  ],
  'a Matroska file': ['application/octet-stream', bytesOf(ebml('matroska'), HTML)],
  'a picture in HEIC': ['application/octet-stream', ftyp('heic', 'mif1', 'heic')],
  'a program of Windows': ['application/octet-stream', bytesOf('MZ\x90\0')],
  'a PDF behind other bytes': ['application/octet-stream', bytesOf('\n%PDF-1.7')],
  'a module of WebAssembly': ['application/octet-stream', bytesOf('\0asm\x01\0\0\0')],
}
