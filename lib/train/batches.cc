// Batches; see batches.h.
#include "train/batches.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "convert/probes.h"
#include "convert/surgery.h"
#include "infer/setup.h"
#include "train/features.h"
#include "train/random.h"
#include "train/trainer.h"

namespace dnn::train {
namespace {

constexpr int64_t kKeptImageBytes = int64_t{2} << 30;  // decoded images beyond this are decoded anew in each epoch
constexpr uint64_t kVariantDraw = 9;                   // a counter that augment.cc leaves free

// A shift for an image of another size.
Change scaled(Change change, double scale) {
  change.dy = std::llround(static_cast<double>(change.dy) * scale);
  change.dx = std::llround(static_cast<double>(change.dx) * scale);
  return change;
}

}  // namespace

// A row for each image that is picked, in each variant.
struct DataPart::Table {
  std::vector<Tensor> variants;  // [images, width]
};

NetworkInput input_of(const Graph& model, const std::string& preprocess, const PreprocessOptions& spelled_out,
                      bool apply_orientation) {
  const Package package = package_of(model);
  const BatchPlan plan = plan_batch(package);
  const std::optional<Preprocess> chosen = choose_preprocess(package, plan, preprocess, spelled_out, apply_orientation);
  if (!chosen) fail_usage("images need a --preprocess: ", dnn::join(preprocess_names()));
  return {*chosen, plan.slots[0]};
}

DataPart::DataPart(const Images& images, std::vector<int64_t> picked, const Augmentation& augmentation,
                   int64_t variants, uint64_t seed, ThreadPool& pool, Ranks* ranks)
    : images_(images),
      picked_(std::move(picked)),
      augmentation_(augmentation),
      fixed_variants_(variants),
      seed_(seed),
      pool_(pool),
      ranks_(ranks) {}

int64_t DataPart::variants() const {
  if (!augmentation_.any()) return 1;
  if (fixed_variants_ > 0) return fixed_variants_;
  const bool only_flip = augmentation_.shift == 0 && augmentation_.crop == 0 && !augmentation_.colours();
  return only_flip ? 2 : 0;
}

size_t DataPart::variant_of(int64_t epoch, int64_t image) const {
  if (epoch == 0 || variants() == 1) return 0;
  if (fixed_variants_ == 0) return draw_change(augmentation_, seed_, epoch, image).mirrored ? 1 : 0;
  const uint64_t bits = random_bits(seed_, {kVariantDraw, static_cast<uint64_t>(epoch), static_cast<uint64_t>(image)});
  return bits % static_cast<uint64_t>(fixed_variants_);
}

Change DataPart::change_of(int64_t variant, int64_t image) const {
  if (!augmentation_.any()) return {};
  if (fixed_variants_ > 0) return draw_change(augmentation_, seed_, variant + 1, image);
  Change change;
  change.mirrored = variant == 1;
  return change;
}

ImageInputs& DataPart::inputs_of(const NetworkInput& input) {
  for (const auto& [preprocess, inputs] : inputs_) {
    if (preprocess == input.preprocess) return *inputs;
  }
  inputs_.emplace_back(input.preprocess, std::make_unique<ImageInputs>(images_, input.preprocess, input.slot));
  return *inputs_.back().second;
}

ImageInputs& DataPart::kept_inputs_of(const NetworkInput& input) {
  ImageInputs& inputs = inputs_of(input);
  together(ranks_, [&] { inputs.keep(pool_, augmentation_.crop > 0, kKeptImageBytes); });
  return inputs;
}

Batches DataPart::labels() const {
  Batches batches;
  for (int64_t i : picked_) batches.labels.push_back(images_.labels()[i]);
  return batches;
}

Tensor DataPart::stack(const ImageInputs& inputs, const std::vector<int64_t>& samples, int64_t epoch, double scale,
                       Tensor memory) const {
  const auto change_of_sample = [&](int64_t k) {
    const int64_t image = picked_[samples[k]];
    return scaled(epoch == 0 ? Change() : draw_change(augmentation_, seed_, epoch, image), scale);
  };
  const std::lock_guard lock(pool_mutex_);
  const auto count = static_cast<int64_t>(samples.size());
  if (inputs.dtype() == DType::Float32) {
    Shape shape = inputs.shape();
    shape[0] = count;
    Tensor batch =
        memory.dtype() == DType::Float32 && memory.shape() == shape ? std::move(memory) : Tensor(DType::Float32, shape);
    const int64_t size = batch.size() / std::max<int64_t>(1, count);
    const std::span<float> out(batch.mutable_data<float>(), batch.size());
    share_out(pool_, count, [&](int64_t k) {
      inputs.load_into(picked_[samples[k]], change_of_sample(k), out.subspan(k * size, size));
    });
    return batch;
  }
  std::vector<Tensor> parts(samples.size());
  share_out(pool_, count, [&](int64_t k) { parts[k] = inputs.load(picked_[samples[k]], change_of_sample(k)); });
  Shape shape = parts[0].shape();
  shape[0] = static_cast<int64_t>(samples.size());
  Tensor batch(parts[0].dtype(), shape);
  auto* out = batch.mutable_bytes();
  for (const Tensor& part : parts) {
    std::memcpy(out, part.bytes().data(), part.size_bytes());
    out += part.size_bytes();
  }
  return batch;
}

Batches DataPart::images(const NetworkInput& input) {
  ImageInputs& inputs = kept_inputs_of(input);
  Batches batches = labels();
  batches.load = [this, &inputs](const std::vector<int64_t>& samples, int64_t epoch, Tensor memory) {
    return stack(inputs, samples, epoch, 1, std::move(memory));
  };
  return batches;
}

std::shared_ptr<const DataPart::Table> DataPart::tabulate(const Graph& graph, const NetworkInput& input, double scale,
                                                          const CompileOptions& compile) {
  const ImageInputs& inputs = inputs_of(input);
  auto table = std::make_shared<Table>();
  const auto count = static_cast<int64_t>(picked_.size());
  const RankShare own = ranks_ == nullptr ? RankShare{0, count} : ranks_->share(count);
  for (int64_t v = 0; v < variants(); ++v) {
    const auto load = [&](int64_t i) {
      const int64_t image = picked_[own.begin + i];
      return inputs.load(image, scaled(change_of(v, image), scale));
    };
    Tensor rows;
    together(ranks_, [&] { rows = compute_features(graph, own.count, load, pool_, compile); });
    table->variants.push_back(ranks_ == nullptr ? std::move(rows) : ranks_->join_rows(rows, count));
  }
  return table;
}

std::function<Tensor(const std::vector<int64_t>&, int64_t)> DataPart::rows_of(
    std::shared_ptr<const Table> table) const {
  return [this, table = std::move(table)](const std::vector<int64_t>& samples, int64_t epoch) {
    const int64_t width = table->variants[0].dim(1);
    Tensor batch(DType::Float32, {static_cast<int64_t>(samples.size()), width});
    float* out = batch.mutable_data<float>();
    for (int64_t i : samples) {
      const size_t variant = variant_of(epoch, picked_[i]);
      std::memcpy(out, table->variants[variant].data<float>() + i * width, static_cast<size_t>(width) * sizeof(float));
      out += width;
    }
    return batch;
  };
}

Batches DataPart::features(const Graph& graph, const NetworkInput& input, const CompileOptions& compile) {
  together(ranks_, [&] {
    if (variants() == 0)
      fail_usage(
          "--augment: features are computed once, of each image and its mirror image; take flip, --feature-variants "
          "N, or freeze less");
  });
  Batches batches = labels();
  batches.load = [rows = rows_of(tabulate(graph, input, 1, compile))](const std::vector<int64_t>& samples,
                                                                      int64_t epoch,
                                                                      const Tensor&) { return rows(samples, epoch); };
  batches.in_memory = true;
  return batches;
}

std::function<Tensor(const std::vector<int64_t>&, int64_t)> DataPart::teacher(const Graph& graph,
                                                                              const NetworkInput& input,
                                                                              const NetworkInput& student, int threads,
                                                                              const CompileOptions& compile) {
  const double scale = static_cast<double>(input.preprocess.width) / std::max(1, student.preprocess.width);
  if (variants() > 0) {
    Graph one = graph;
    set_batch(one, "1");
    return rows_of(tabulate(with_logits(one), input, scale, compile));
  }
  ImageInputs& inputs = kept_inputs_of(input);
  auto predictor = std::make_shared<Predictor>(graph, threads, compile);
  return [this, &inputs, predictor, scale](const std::vector<int64_t>& samples, int64_t epoch) {
    return predictor->logits(stack(inputs, samples, epoch, scale));
  };
}

}  // namespace dnn::train
