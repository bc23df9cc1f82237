import { crawlScenario } from '../bench/crawl.ts'
console.log(JSON.stringify(await crawlScenario(process.argv[3] ?? null, Number(process.argv[2] ?? 1000))))
