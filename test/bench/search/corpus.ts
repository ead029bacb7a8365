/** Words of four languages, as often as words are (Zipf), in messages of conversations of uneven size. */
export interface Corpus {
  message(): { text: string; conversation: number; author: number }
  /** A word by how often it occurs. */
  word(rank: number): string
}

const ALPHABETS = {
  latin: 'etaoinshrdlucmfwypvbgkqjxz',
  german: 'enisratdhulcgmobwfkzpvüäößjyxq',
  russian: 'оеаинтсрвлкмдпуяызбгчйхжшюцщэф',
}

/** A generator of numbers in [0, 1) that is the same for a seed. */
export function random(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

const VOCABULARY = 100_000

export function createCorpus(seed = 1, conversations = 1000): Corpus {
  const next = random(seed)
  const below = (n: number) => Math.floor(next() * n)
  const words = Array.from({ length: VOCABULARY }, (_, rank) => wordOf(rank, below))
  /** A rank with a probability of about 1 / (rank + 1). */
  const zipf = (n: number) => Math.floor(n ** next()) - 1
  return {
    word: (rank) => words[rank]!,
    message() {
      const count = 6 + below(13)
      const text = Array.from({ length: count }, () => words[zipf(VOCABULARY)]!).join(' ')
      return { text, conversation: zipf(conversations), author: zipf(1000) }
    },
  }
}

/** One word in five is Chinese, of one to three characters; the others of English, German and Russian letters. */
function wordOf(rank: number, below: (n: number) => number): string {
  const kind = rank % 5
  if (kind === 4) {
    // As many different characters as are in use.
    return String.fromCodePoint(
      ...Array.from({ length: 1 + below(3) }, () => 0x4e00 + Math.floor(below(3500) ** 0.9 * 2)),
    )
  }
  const letters = Object.values(ALPHABETS)[kind % 3]!
  const length = 2 + Math.floor(Math.log2(rank + 2) / 2) + below(4)
  return Array.from({ length }, () => letters[Math.floor(letters.length * (below(1000) / 1000) ** 1.7)]!).join('')
}
