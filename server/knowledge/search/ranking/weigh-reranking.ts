import type { Passage } from '../passage.ts'
import { chanceOf } from './relevance.ts'

/** The most scores that do not count for the mean, and the share of all that they may be: those of right passages. */
const MOST_LEFT_OUT = 3
const SHARE_LEFT_OUT = 0.25
/** The deviation that is expected before any score is known, in log odds, and the number of scores it counts for. */
const USUAL_DEVIATION = 2
const USUAL_COUNTS = 1
/** Probabilities that are nearer to 0 or 1 than this say no more. */
const LEAST_CHANCE = 1e-5

/**
 * A passage becomes more likely from STANDS_OUT deviations on, by 1 in log odds for each further one, up to MOST_PROOF.
 * Among two dozen scores without any information, the best stands out by about three.
 */
const STANDS_OUT = 3
const MOST_PROOF = 4
/** From this probability on, the search has chosen its first passage, and a model that prefers another one disagrees. */
const CHOSEN = 0.5

/**
 * Combines the scores of a reranking model, one for each passage, with those of the search. Returns the passages in
 * their new order, each with the probability (0 to 1) that it holds the answer. Scores in which no passage stands out
 * change little, and equal ones nothing.
 */
export function weighReranking(passages: readonly Passage[], scores: readonly number[]): Passage[] {
  const deviations = measureDeviations(scores)
  const proofs = deviations.map((deviation) => Math.min(MOST_PROOF, Math.max(0, deviation - STANDS_OUT)))
  const most = Math.max(...proofs)
  const first = oddsOf(passages[0]?.score ?? 0)
  const scoreAt = (place: number, odds: number): number => {
    // What the model says for one passage, it says against the others.
    const proof = proofs[place]! - (most - proofs[place]!)
    if (place === 0) return chanceOf(odds + proof)
    // Two passages seldom both hold the answer. Where model and search disagree, neither is sure.
    const score = chanceOf(Math.min(odds, -first) + proof)
    return passages[0]!.score >= CHOSEN ? Math.min(score, passages[0]!.score) : score
  }
  const weighed = passages.map((passage, place) => {
    const odds = oddsOf(passage.score)
    // The passages of a follow-up have one score in common, so that their ranks have to count.
    const order = Math.min(odds, first - Math.log(1 + place)) + deviations[place]!
    return { passage, order, score: most === 0 ? passage.score : scoreAt(place, odds) }
  })
  weighed.sort((a, b) => b.order - a.order)
  // The order and the probability weigh the scores differently, but scores must not rise from one rank to the next.
  let score = 1
  return weighed.map((one) => {
    score = Math.min(score, one.score)
    return { ...one.passage, score }
  })
}

/**
 * Returns by how many standard deviations each score exceeds the mean of those that are not the best. Models differ in
 * the scale of their scores, so that only this can be compared. Scores from 0 to 1 are taken as probabilities.
 */
function measureDeviations(scores: readonly number[]): number[] {
  const areChances = scores.every((score) => score >= 0 && score <= 1)
  const values = areChances ? scores.map(oddsOf) : scores
  const leftOut = Math.min(MOST_LEFT_OUT, Math.max(1, Math.floor(values.length * SHARE_LEFT_OUT)))
  const rest = values.toSorted((a, b) => b - a).slice(leftOut)
  const mean = rest.reduce((sum, value) => sum + value, 0) / (rest.length || 1)
  const squares = rest.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  const variance = (squares + USUAL_COUNTS * USUAL_DEVIATION ** 2) / (rest.length + USUAL_COUNTS)
  return values.map((value) => (value - mean) / Math.sqrt(variance))
}

function oddsOf(chance: number): number {
  const within = Math.min(1 - LEAST_CHANCE, Math.max(LEAST_CHANCE, chance))
  return Math.log(within / (1 - within))
}
