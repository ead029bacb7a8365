/** A WAV file with silence of so many seconds: 16 bits, two channels, 44.1 kHz. */
export function wave(seconds: number): Buffer {
  const [rate, frame] = [44_100, 4]
  const size = Math.round(seconds * rate) * frame
  const header = Buffer.alloc(44)
  header.write('RIFF', 0)
  header.writeUInt32LE(36 + size, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(2, 22)
  header.writeUInt32LE(rate, 24)
  header.writeUInt32LE(rate * frame, 28)
  header.writeUInt16LE(frame, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36)
  header.writeUInt32LE(size, 40)
  return Buffer.concat([header, Buffer.alloc(size)])
}
